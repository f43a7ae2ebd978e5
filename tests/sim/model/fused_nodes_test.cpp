// SPDX-License-Identifier: Apache-2.0
// Fused nodes against the operators that they stand for.
#include "sim/model/fused_nodes.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/message_of.h"
#include "tests/sim/quantise/run_on_host.h"
#include "tests/support/float_model.h"

namespace npuscope {
namespace {

using sample::prepared;
using test::ModelBuilder;
using test::some_fractions;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The same model twice: with its last node fused, and without that node.
class Fused : public ::testing::Test {
 protected:
    explicit Fused(std::int64_t opset = 13) : fused(opset), plain(opset) {
        for (ModelBuilder* builder : both) {
            auto& import = *builder->model().add_opset_import();
            import.set_domain("com.microsoft");
            import.set_version(1);
        }
    }
    void input(const std::string& name, const Sizes& sizes) {
        for (ModelBuilder* builder : both) {
            builder->input(name, sizes);
        }
        inputs[name] = test::float_input(sizes, 3);
    }
    void floats(const std::string& name, const Sizes& sizes) {
        for (ModelBuilder* builder : both) {
            builder->floats(name, sizes, some_fractions(count_elements(sizes), 0.5F, 7));
        }
    }
    ModelBuilder& fuse(const std::string& op, const std::vector<std::string>& operands,
                       const std::string& domain = "com.microsoft") {
        fused.node(op, "f", operands, "y").last_node().set_domain(domain);
        return fused;
    }
    std::vector<std::string> expect_same() {
        fused.output("y");
        plain.output("y");
        const Graph graph = prepared(fused);
        const GraphValue found = sample::host_output(graph, inputs);
        const GraphValue wanted = sample::host_output(prepared(plain), inputs);
        EXPECT_EQ(found.type, wanted.type);
        for (std::size_t i = 0; i < std::min(found.numbers.size(), wanted.numbers.size()); ++i) {
            EXPECT_NEAR(found.numbers[i], wanted.numbers[i], 1e-5) << i;
        }
        std::vector<std::string> operators;
        for (const GraphNode& node : graph.nodes) {
            operators.push_back(node.op);
        }
        return operators;
    }

    ModelBuilder fused;
    ModelBuilder plain;
    const std::vector<ModelBuilder*> both{&fused, &plain};
    Case inputs;
};

TEST_F(Fused, AConvolutionWithAnAdditionAndAnActivation) {
    input("x", {1, 3, 5, 5});
    input("z", {1, 4, 5, 5});
    floats("w", {4, 3, 3, 3});
    floats("b", {4});
    fuse("FusedConv", {"x", "w", "b", "z"}).ints("pads", {1, 1, 1, 1}).text("activation", "Clip");
    auto* limits = fused.last_node().add_attribute();
    limits->set_name("activation_params");
    limits->set_type(onnx::AttributeProto_AttributeType_FLOATS);
    limits->add_floats(-0.5F);
    limits->add_floats(0.75F);
    plain.node("Conv", "c", {"x", "w", "b"}).ints("pads", {1, 1, 1, 1});
    plain.node("Add", "a", {plain.last(), "z"}).floats("low", {}, {-0.5F});
    plain.floats("high", {}, {0.75F}).node("Clip", "l", {plain.last(), "low", "high"}, "y");
    EXPECT_THAT(expect_same(), ElementsAre("Conv", "Add", "Clip"));
}

TEST_F(Fused, AFullyConnectedLayerWithAnActivation) {
    input("x", {2, 6});
    floats("w", {4, 6});
    fuse("FusedGemm", {"x", "w"}).integer("transB", 1).number("alpha", 0.5F);
    fused.text("activation", "LeakyRelu").number("activation_alpha", 0.25F);
    plain.node("Gemm", "g", {"x", "w"}).integer("transB", 1).number("alpha", 0.5F);
    plain.node("LeakyRelu", "l", {plain.last()}, "y").number("alpha", 0.25F);
    EXPECT_THAT(expect_same(), ElementsAre("Gemm", "LeakyRelu"));
}

TEST_F(Fused, AFactorGoesIntoConstantWeights) {
    input("x", {1, 2, 6});
    floats("w", {4, 6});
    fuse("FusedMatMul", {"x", "w"}).integer("transB", 1).number("alpha", 0.125F);
    plain.node("Transpose", "t", {"w"}).floats("c", {}, {0.125F});
    plain.node("MatMul", "m", {"x", plain.last()}).node("Mul", "f", {"m_y", "c"}, "y");
    EXPECT_THAT(expect_same(), ElementsAre("MatMul"));
}

enum class BlockZeros { Middle, Packed, Real };
struct BlockRow {
    std::int64_t bits;
    std::int64_t inner;
    BlockZeros zeros;
    bool bias;
};
class BlockWeights : public Fused, public ::testing::WithParamInterface<BlockRow> {};

/// 5 kernels in blocks of 16, against the dequantised weights.
TEST_P(BlockWeights, AreDequantised) {
    const auto& [bits, inner, kind, bias] = GetParam();
    constexpr std::int64_t kernels = 5;
    constexpr std::int64_t block = 16;
    const std::int64_t blocks = (inner + block - 1) / block;
    const auto code = [bits = bits](std::int64_t seed) {
        return static_cast<int>(seed * 37 % (std::int64_t{1} << bits));
    };
    const auto packed = [&](std::int64_t count, std::int64_t first) {
        std::vector<int> bytes(static_cast<std::size_t>((count * bits + 7) / 8));
        for (std::int64_t i = 0; i < count; ++i) {
            bytes[static_cast<std::size_t>(i * bits / 8)] |= code(first + i)
                                                             << (bits == 4 ? i % 2 * 4 : 0);
        }
        return bytes;
    };
    std::vector<int> codes;
    std::vector<int> zero_codes;
    std::vector<float> scales;
    std::vector<float> zeros;
    for (std::int64_t row = 0; row < kernels * blocks; ++row) {
        const std::vector<int> bytes = packed(block, row * block);
        codes.insert(codes.end(), bytes.begin(), bytes.end());
        scales.push_back(0.015625F * static_cast<float>(1 + row % 3));
        zeros.push_back(kind == BlockZeros::Middle   ? static_cast<float>(1 << (bits - 1))
                        : kind == BlockZeros::Packed ? static_cast<float>(code(row))
                                                     : 0.5F + static_cast<float>(row));
    }
    for (std::int64_t k = 0; k < kernels; ++k) {
        const std::vector<int> bytes = packed(blocks, k * blocks);
        zero_codes.insert(zero_codes.end(), bytes.begin(), bytes.end());
    }
    std::vector<float> weights;
    for (std::int64_t i = 0; i < inner; ++i) {
        for (std::int64_t k = 0; k < kernels; ++k) {
            const auto row = static_cast<std::size_t>(k * blocks + i / block);
            const int number = code(static_cast<std::int64_t>(row) * block + i % block);
            weights.push_back((static_cast<float>(number) - zeros[row]) * scales[row]);
        }
    }
    input("x", {1, 3, inner});
    floats("bias", {kernels});
    fused.int8s("codes", {kernels, blocks, block * bits / 8}, codes,
                onnx::TensorProto_DataType_UINT8);
    fused.floats("scales", {kernels * blocks}, scales).floats("reals", {kernels, blocks}, zeros);
    fused.int8s("points", {std::ssize(zero_codes)}, zero_codes, onnx::TensorProto_DataType_UINT8);
    const char* points = kind == BlockZeros::Middle   ? ""
                         : kind == BlockZeros::Packed ? "points"
                                                      : "reals";
    fuse("MatMulNBits", {"x", "codes", "scales", points, "", bias ? "bias" : ""});
    fused.integer("K", inner).integer("N", kernels).integer("block_size", block);
    fused.integer("bits", bits);
    plain.floats("w", {inner, kernels}, weights);
    if (bias) {
        plain.node("MatMul", "m", {"x", "w"}).node("Add", "a", {plain.last(), "bias"}, "y");
        EXPECT_THAT(expect_same(), ElementsAre("MatMul", "Add"));
    } else {
        plain.node("MatMul", "m", {"x", "w"}, "y");
        EXPECT_THAT(expect_same(), ElementsAre("MatMul"));
    }
}
INSTANTIATE_TEST_SUITE_P(Rows, BlockWeights,
                         ::testing::Values(BlockRow{4, 32, BlockZeros::Middle, false},
                                           BlockRow{4, 40, BlockZeros::Packed, true},
                                           BlockRow{4, 48, BlockZeros::Real, false},
                                           BlockRow{8, 32, BlockZeros::Middle, true},
                                           BlockRow{8, 40, BlockZeros::Packed, false},
                                           BlockRow{8, 16, BlockZeros::Real, true}));

/// Sizes that do not fit the attributes, another width, an order of the groups.
TEST_F(Fused, BlockWeightsOfOtherFormsAreNotSupported) {
    input("x", {1, 32});
    fused.int8s("codes", {4, 2, 8}, std::vector<int>(64, 7), onnx::TensorProto_DataType_UINT8);
    fused.int8s("order", {32}, std::vector<int>(32), onnx::TensorProto_DataType_INT32);
    floats("scales", {8});
    fuse("MatMulNBits", {"x", "codes", "scales"}).integer("K", 32).integer("N", 4);
    fused.integer("block_size", 16).output("y");
    onnx::NodeProto& node = fused.last_node();
    const auto is_refused = [&](const onnx::NodeProto& changed) {
        ModelBuilder model = fused;
        *model.graph().mutable_node(0) = changed;
        return sample::message_of([&] { prepared(model); }).find("MatMulNBits") !=
               std::string::npos;
    };
    EXPECT_FALSE(is_refused(node));
    onnx::NodeProto other = node;
    other.add_input("");
    other.add_input("order");
    EXPECT_TRUE(is_refused(other));
    for (const auto& [attribute, value] :
         {std::pair{0, std::int64_t{64}}, {1, 5}, {1, std::int64_t{1} << 62}, {2, 32}, {2, 0}}) {
        other = node;
        other.mutable_attribute(attribute)->set_i(value);
        EXPECT_TRUE(is_refused(other)) << attribute << " " << value;
    }
    fused.integer("bits", 2);
    EXPECT_TRUE(is_refused(node));
}

TEST_F(Fused, BatchesMayBeTransposedToo) {
    input("a", {5, 2, 3, 6});
    input("b", {2, 3, 5, 7});
    fuse("FusedMatMul", {"a", "b"}).integer("transBatchA", 1).integer("transA", 1);
    fused.number("alpha", 2);
    plain.node("Transpose", "t", {"a"}).ints("perm", {1, 2, 3, 0}).floats("c", {}, {2});
    plain.node("MatMul", "m", {plain.last(), "b"}).node("Mul", "f", {"m_y", "c"}, "y");
    EXPECT_THAT(expect_same(), ElementsAre("Transpose", "MatMul", "Mul"));
}

TEST_F(Fused, ASumAndItsNormalisation) {
    input("x", {1, 3, 8});
    input("s", {1, 3, 8});
    for (const char* name : {"scale", "shift", "bias"}) {
        floats(name, {8});
    }
    fuse("SkipLayerNormalization", {"x", "s", "scale", "shift", "bias"}).number("epsilon", 0.01F);
    plain.node("Add", "a", {"x", "s"}).node("Add", "b", {"a_y", "bias"});
    plain.node("LayerNormalization", "n", {"b_y", "scale", "shift"}, "y").number("epsilon", 0.01F);
    EXPECT_THAT(expect_same(), ElementsAre("Add", "Add", "LayerNormalization"));
}

TEST_F(Fused, TheSumMayBeAResultToo) {
    input("x", {1, 3, 8});
    input("s", {1, 3, 8});
    floats("scale", {8});
    fuse("SkipLayerNormalization", {"x", "s", "scale"});
    for (const char* output : {"", "", "sum"}) {
        fused.last_node().add_output(output);
    }
    fused.output("sum");
    const Graph graph = prepared(fused);
    EXPECT_EQ(graph.outputs, std::vector<std::string>{"sum"});
    EXPECT_EQ(graph.nodes[0].op, "Add");
    EXPECT_EQ(graph.nodes[0].outputs[0], "sum");
}

TEST_F(Fused, RootsOfMeanSquares) {
    input("x", {1, 3, 8});
    input("s", {1, 3, 8});
    floats("scale", {8});
    fuse("SkipSimplifiedLayerNormalization", {"x", "s", "scale"}).number("epsilon", 0.01F);
    plain.node("Add", "a", {"x", "s"});
    plain.node("RMSNormalization", "n", {"a_y", "scale"}, "y").number("epsilon", 0.01F);
    EXPECT_THAT(expect_same(),
                ElementsAre("Add", "Mul", "ReduceMean", "Add", "Sqrt", "Div", "Mul"));
}

/// One head of the attention written out, for queries, keys and values at `first` of 12 columns.
void add_head(ModelBuilder& plain, const std::string& head, std::int64_t first) {
    const auto part = [&](const std::string& name, std::int64_t begin) {
        plain.int64s(head + name + "_b", {begin}).int64s(head + name + "_e", {begin + 2});
        plain.node("Slice", head + name,
                   {"all_y", head + name + "_b", head + name + "_e", "columns"});
        return plain.last();
    };
    const std::string queries = part("q", first);
    plain.node("Transpose", head + "k_turned", {part("k", first + 4)}).ints("perm", {0, 2, 1});
    plain.node("MatMul", head + "scores", {queries, plain.last()});
    plain.node("Mul", head + "scaled", {plain.last(), "scale"});
    plain.node("Add", head + "masked", {plain.last(), "penalty"});
    plain.node("Softmax", head + "shares", {plain.last()}).integer("axis", -1);
    const std::string shares = plain.last();
    plain.node("MatMul", head, {shares, part("v", first + 8)});
}

TEST_F(Fused, AttentionWithAMask) {
    input("x", {1, 3, 4});
    floats("w", {4, 12});
    floats("b", {12});
    fused.int8s("mask", {1, 3}, {1, 1, 0}, onnx::TensorProto_DataType_INT32);
    fuse("Attention", {"x", "w", "b", "mask"}).integer("num_heads", 2);
    plain.int64s("columns", {2}).floats("scale", {}, {0.70710678F});
    plain.floats("penalty", {1, 1, 3}, {0, 0, -10000});
    plain.node("MatMul", "product", {"x", "w"}).node("Add", "all", {plain.last(), "b"});
    add_head(plain, "first", 0);
    add_head(plain, "second", 2);
    plain.node("Concat", "both", {"first_y", "second_y"}, "y").integer("axis", 2);
    EXPECT_THAT(expect_same(), ::testing::Contains("Softmax"));
}

TEST_F(Fused, AttentionInAFormWithStateIsNotGuessed) {
    input("x", {1, 3, 4});
    floats("w", {4, 12});
    fuse("Attention", {"x", "w"}).integer("num_heads", 2).integer("unidirectional", 1);
    fused.output("y");
    EXPECT_THAT(sample::message_of([&] { prepared(fused); }), HasSubstr("is not supported"));
}

struct AttentionRow {
    std::int64_t rank;
    std::int64_t heads;      ///< of the queries
    std::int64_t key_heads;  ///< of keys and values
    std::int64_t past = 0;
    bool causal = false;
    bool hides = false;  ///< a mask of booleans
    float cap = 0;
};

class FusedAttention : public Fused, public ::testing::WithParamInterface<AttentionRow> {
 protected:
    static constexpr std::int64_t batch = 2;
    static constexpr std::int64_t rows = 3;
    static constexpr std::int64_t new_keys = 4;
    static constexpr std::int64_t width = 2;
    static constexpr std::int64_t value_width = 5;

    FusedAttention() : Fused(23) {}

    void map(const std::string& name, std::int64_t heads, std::int64_t count, std::int64_t wide) {
        const bool flat = GetParam().rank == 3;
        input(name, flat ? Sizes{batch, count, heads * wide} : Sizes{batch, heads, count, wide});
    }
    struct Element {
        std::int64_t input;
        std::int64_t head;
        std::int64_t row;
        std::int64_t column;
    };
    static double of(const GraphValue& map, std::int64_t heads, const Element& at) {
        const Sizes& sizes = map.type.sizes;
        const std::int64_t index =
            sizes.size() == 3
                ? (at.input * sizes[1] + at.row) * sizes[2] + at.head * (sizes[2] / heads) +
                      at.column
                : ((at.input * heads + at.head) * sizes[2] + at.row) * sizes[3] + at.column;
        return map.numbers.at(static_cast<std::size_t>(index));
    }
    /// Of keys or values, the past ones first.
    double all(const std::string& name, Element at) const {
        const std::int64_t past = GetParam().past;
        const bool is_past = at.row < past;
        at.row -= is_past ? 0 : past;
        return of(inputs.at(is_past ? "past_" + name : name), GetParam().key_heads, at);
    }
    static bool is_hidden(std::int64_t row, std::int64_t key) { return (row + key) % 3 == 1; }
    double result(const Element& at) const {
        const AttentionRow& form = GetParam();
        const std::int64_t shared = at.head / (form.heads / form.key_heads);
        double sum = 0;
        double mixed = 0;
        for (std::int64_t key = 0; key < form.past + new_keys; ++key) {
            double score = 0;
            for (std::int64_t i = 0; i < width; ++i) {
                score += of(inputs.at("q"), form.heads, {at.input, at.head, at.row, i}) *
                         all("k", {at.input, shared, key, i});
            }
            score *= 0.75;
            score = form.cap == 0 ? score : std::tanh(score / form.cap) * form.cap;
            const bool later = form.causal && key > at.row + form.past;
            const double share =
                later || (form.hides && is_hidden(at.row, key)) ? 0 : std::exp(score);
            sum += share;
            mixed += share * all("v", {at.input, shared, key, at.column});
        }
        return mixed / sum;
    }
};

TEST_P(FusedAttention, IsOneOfQueriesKeysAndValues) {
    const AttentionRow& form = GetParam();
    map("q", form.heads, rows, width);
    map("k", form.key_heads, new_keys, width);
    map("v", form.key_heads, new_keys, value_width);
    if (form.past > 0) {
        input("past_k", {batch, form.key_heads, form.past, width});
        input("past_v", {batch, form.key_heads, form.past, value_width});
    }
    const std::int64_t keys = form.past + new_keys;
    std::vector<int> mask;
    for (std::int64_t i = 0; i < rows * keys; ++i) {
        mask.push_back(is_hidden(i / keys, i % keys) ? 0 : 1);
    }
    fused.int8s("mask", {rows, keys}, mask, onnx::TensorProto_DataType_BOOL);
    const char* past_keys = form.past > 0 ? "past_k" : "";
    const char* past_values = form.past > 0 ? "past_v" : "";
    fuse("Attention", {"q", "k", "v", form.hides ? "mask" : "", past_keys, past_values}, "");
    fused.integer("q_num_heads", form.heads).integer("kv_num_heads", form.key_heads);
    fused.integer("is_causal", form.causal ? 1 : 0).number("scale", 0.75F);
    fused.number("softcap", form.cap).output("y");
    if (form.past > 0) {
        fused.last_node().add_output("all_k");
        fused.output("all_k");
    }
    const auto results = run_on_host(prepared(fused), inputs);
    const GraphValue& found = results.at("y");
    EXPECT_EQ(found.type.sizes, form.rank == 3 ? (Sizes{batch, rows, form.heads * value_width})
                                               : (Sizes{batch, form.heads, rows, value_width}));
    for (std::int64_t i = 0; i < batch * form.heads * rows * value_width; ++i) {
        const Element at{i / value_width / rows / form.heads, i / value_width / rows % form.heads,
                         i / value_width % rows, i % value_width};
        EXPECT_NEAR(of(found, form.heads, at), result(at), 1e-5) << i;
    }
    if (form.past > 0) {
        const GraphValue& present = results.at("all_k");
        EXPECT_EQ(present.type.sizes, (Sizes{batch, form.key_heads, keys, width}));
        EXPECT_EQ(of(present, form.key_heads, {1, 1, keys - 1, 1}), all("k", {1, 1, keys - 1, 1}));
    }
}
INSTANTIATE_TEST_SUITE_P(Rows, FusedAttention,
                         ::testing::Values(AttentionRow{4, 2, 2}, AttentionRow{3, 2, 2, 0, true},
                                           AttentionRow{3, 6, 2, 0, false, true},
                                           AttentionRow{4, 4, 2, 3, true, true},
                                           AttentionRow{3, 2, 2, 2, false, false, 0.5F}));

struct RotationRow {
    std::int64_t rank;
    std::int64_t rotated;
    bool neighbours;
    bool by_position;
};
class FusedRotation : public Fused, public ::testing::WithParamInterface<RotationRow> {
 protected:
    FusedRotation() : Fused(23) {}
};

/// 2 inputs, 3 heads, 4 rows of 6 elements.
TEST_P(FusedRotation, TurnsPairsOfElements) {
    const auto& [rank, rotated, neighbours, by_position] = GetParam();
    const std::int64_t half = rotated / 2;
    input("x", rank == 3 ? Sizes{2, 4, 18} : Sizes{2, 3, 4, 6});
    const Sizes table = by_position ? Sizes{9, half} : Sizes{2, 4, half};
    input("cosines", table);
    input("sines", table);
    const std::vector<std::int64_t> positions{2, 0, 8, 3, 1, 1, 5, 7};
    fused.int64s("positions", positions).int64s("sizes", {2, 4});
    fused.node("Reshape", "rows", {"positions", "sizes"});
    fuse("RotaryEmbedding", {"x", "cosines", "sines", by_position ? "rows_y" : ""}, "");
    fused.integer("interleaved", neighbours ? 1 : 0).integer("num_heads", 3);
    fused.integer("rotary_embedding_dim", rotated == 6 ? 0 : rotated).output("y");
    const GraphValue found = sample::host_output(prepared(fused), inputs);
    const std::vector<double>& x = inputs.at("x").numbers;
    ASSERT_EQ(found.type, inputs.at("x").type);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        const std::int64_t column = at % 6;
        const std::int64_t row = at / 72 * 4 + (rank == 3 ? at / 18 : at / 6) % 4;
        const std::int64_t pair = (neighbours ? column / 2 : column) % half;
        const bool second = neighbours ? column % 2 == 1 : column >= half;
        const std::int64_t distance = neighbours ? 1 : half;
        const auto angle = static_cast<std::size_t>(
            (by_position ? positions.at(static_cast<std::size_t>(row)) : row) * half + pair);
        const double sine = inputs.at("sines").numbers.at(angle) * (second ? 1 : -1);
        const double wanted =
            column >= rotated
                ? x[i]
                : x[i] * inputs.at("cosines").numbers.at(angle) +
                      x[static_cast<std::size_t>(second ? at - distance : at + distance)] * sine;
        EXPECT_NEAR(found.numbers[i], wanted, 1e-5) << i;
    }
}
INSTANTIATE_TEST_SUITE_P(Rows, FusedRotation,
                         ::testing::Values(RotationRow{4, 6, false, true},
                                           RotationRow{3, 6, true, false},
                                           RotationRow{3, 4, false, false},
                                           RotationRow{4, 4, true, true}));

class FusedOf18 : public Fused {
 protected:
    FusedOf18() : Fused(18) {}
};

TEST_F(FusedOf18, RootsOfMeanSquaresOverSeveralAxes) {
    input("x", {2, 3, 4});
    floats("scale", {3, 4});
    fuse("SimplifiedLayerNormalization", {"x", "scale"}, "").integer("axis", 1);
    plain.node("RMSNormalization", "n", {"x", "scale"}, "y").integer("axis", 1);
    expect_same();
}

TEST_F(Fused, AnActivationThatIsNotKnownIsNotGuessed) {
    input("x", {2, 6});
    floats("w", {4, 6});
    fuse("FusedGemm", {"x", "w"}).integer("transB", 1).text("activation", "Mystery");
    fused.output("y");
    EXPECT_THAT(sample::message_of([&] { prepared(fused); }),
                HasSubstr("'f' (com.microsoft.FusedGemm): the operator is not supported"));
}

}  // namespace
}  // namespace npuscope
