// SPDX-License-Identifier: Apache-2.0
// What is between quantisers and needs no real numbers: the integers stay those of the model, bit
// by bit, with fewer operators.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "sim/model/host_values.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/quantised_form.h"
#include "tests/support/model_builder.h"

namespace npuscope::quantised_functions_test {
namespace {

using test::ModelBuilder;

/// A map of int8 with each code once, as real numbers of scale 0.05 in `x_y`.
ModelBuilder start(int zero = 3) {
    ModelBuilder builder;
    builder.input("x", {1, 4, 8, 8}, onnx::TensorProto_DataType_INT8);
    builder.floats("xs", {}, {0.05F}).int8s("xz", {}, {zero});
    builder.floats("ys", {}, {0.03F}).int8s("yz", {}, {-7});
    builder.node("DequantizeLinear", "x", {"x", "xs", "xz"});
    return builder;
}

std::map<std::string, GraphValue> all_codes() {
    GraphValue codes = zeros({ElementType::Int8, {1, 4, 8, 8}});
    for (std::size_t i = 0; i < codes.numbers.size(); ++i) {
        codes.numbers[i] = static_cast<double>(i) - 128;
    }
    return {{"x", codes}};
}

std::vector<double> results(const Graph& graph) {
    HostValues values(graph, value_ranges(graph));
    for (const std::string& input : graph.inputs) {
        values.take_input(input, all_codes());
    }
    for (const GraphNode& node : graph.nodes) {
        values.evaluate(node);
    }
    std::vector<double> numbers;
    for (const std::string& output : graph.outputs) {
        const std::vector<double>& one = values.at(output).numbers;
        numbers.insert(numbers.end(), one.begin(), one.end());
    }
    return numbers;
}

std::vector<std::string> operators(const Graph& graph) {
    std::vector<std::string> names;
    for (const GraphNode& node : graph.nodes) {
        names.push_back(node.op);
    }
    std::ranges::sort(names);
    return names;
}

/// The graph after both passes, whose results are the model's.
Graph simplified(ModelBuilder& builder) {
    builder.output(builder.last());
    Graph graph = parse_onnx(builder.bytes(), "built.onnx");
    prepare_graph(graph);
    const std::vector<double> expected = results(graph);
    move_between_quantisers(graph);
    prepare_graph(graph);
    tabulate_functions(graph);
    prepare_graph(graph);
    EXPECT_EQ(results(graph), expected);
    return graph;
}

using Names = std::vector<std::string>;

TEST(QuantisedFunctions, AnActivationIsATable) {
    for (const char* op : {"Sigmoid", "Tanh", "LeakyRelu", "Relu", "HardSwish", "Elu", "Erf"}) {
        SCOPED_TRACE(op);
        ModelBuilder builder = start();
        builder.node(op, "f", {"x_y"}).node("QuantizeLinear", "q", {"f_y", "ys", "yz"});
        const Graph graph = simplified(builder);
        EXPECT_EQ(operators(graph), (Names{lookup_op}));
        EXPECT_EQ(graph.nodes.front().name, "f");
    }
}

TEST(QuantisedFunctions, AProductOfAMapWithItsOwnFunctionIsOneTable) {
    ModelBuilder builder = start();
    builder.floats("ss", {}, {1.0F / 256}).int8s("sz", {}, {-128});
    builder.node("Sigmoid", "sigmoid", {"x_y"})
        .node("QuantizeLinear", "s", {"sigmoid_y", "ss", "sz"});
    builder.node("DequantizeLinear", "ds", {"s_y", "ss", "sz"})
        .node("Mul", "silu", {"x_y", "ds_y"});
    builder.node("QuantizeLinear", "q", {"silu_y", "ys", "yz"});
    EXPECT_EQ(operators(simplified(builder)), (Names{lookup_op}));
}

TEST(QuantisedFunctions, ConstantsMayBeQuantisedToo) {
    ModelBuilder builder = start();
    builder.int8s("c", {1}, {60}).node("DequantizeLinear", "three", {"c", "xs", "xz"});
    builder.node("Add", "sum", {"x_y", "three_y"})
        .node("QuantizeLinear", "q", {"sum_y", "ys", "yz"});
    EXPECT_EQ(operators(simplified(builder)), (Names{lookup_op}));
}

TEST(QuantisedFunctions, TwoMapsAreNoFunctionOfOne) {
    ModelBuilder builder = start();
    builder.input("z", {1, 4, 8, 8}, onnx::TensorProto_DataType_INT8);
    builder.node("DequantizeLinear", "z", {"z", "xs", "xz"}).node("Mul", "product", {"x_y", "z_y"});
    builder.node("QuantizeLinear", "q", {"product_y", "ys", "yz"}).output(builder.last());
    Graph graph = parse_onnx(builder.bytes(), "built.onnx");
    prepare_graph(graph);
    const Names before = operators(graph);
    tabulate_functions(graph);
    EXPECT_EQ(operators(graph), before);
}

TEST(QuantisedFunctions, ANumberThatIsNotFiniteHasNoTable) {
    ModelBuilder builder = start();
    builder.node("Log", "log", {"x_y"}).node("QuantizeLinear", "q", {"log_y", "ys", "yz"});
    builder.output(builder.last());
    Graph graph = parse_onnx(builder.bytes(), "built.onnx");
    prepare_graph(graph);
    tabulate_functions(graph);
    EXPECT_EQ(operators(graph), (Names{"DequantizeLinear", "Log", "QuantizeLinear"}));
}

TEST(QuantisedFunctions, MoversTakeTheIntegers) {
    ModelBuilder builder = start();
    builder.node("Transpose", "turn", {"x_y"}).ints("perm", {0, 2, 3, 1});
    builder.node("Flatten", "flat", {builder.last()});
    builder.node("QuantizeLinear", "q", {"flat_y", "xs", "xz"});
    EXPECT_EQ(operators(simplified(builder)), (Names{"Flatten", "Identity", "Transpose"}));
}

TEST(QuantisedFunctions, PartsOfASplitAreSlicesOfIntegers) {
    ModelBuilder builder = start();
    builder.graph().add_node();
    onnx::NodeProto& split = *builder.graph().mutable_node(1);
    split.set_op_type("Split");
    split.set_name("split");
    split.add_input("x_y");
    split.add_output("a");
    split.add_output("b");
    builder.int64s("parts", {1, 3});
    split.add_input("parts");
    onnx::AttributeProto& axis = *split.add_attribute();
    axis.set_name("axis");
    axis.set_type(onnx::AttributeProto::INT);
    axis.set_i(-3);
    builder.node("Concat", "turned", {"b", "a"}).integer("axis", 1);
    builder.node("QuantizeLinear", "q", {"turned_y", "xs", "xz"});
    EXPECT_EQ(operators(simplified(builder)), (Names{"Concat", "Slice", "Slice"}));
}

TEST(QuantisedFunctions, AMaximumOfAnotherScaleIsTakenOfIntegers) {
    ModelBuilder builder = start();
    builder.node("MaxPool", "pool", {"x_y"})
        .ints("kernel_shape", {2, 2})
        .ints("pads", {1, 1, 0, 0});
    builder.node("QuantizeLinear", "q", {"pool_y", "ys", "yz"});
    EXPECT_EQ(operators(simplified(builder)), (Names{"MaxPool", lookup_op}));
}

TEST(QuantisedFunctions, PaddingOfZerosIsTheZeroPoint) {
    ModelBuilder builder = start();
    builder.int64s("pads", {0, 0, 1, 1, 0, 0, 1, 1});
    builder.node("Pad", "pad", {"x_y", "pads"}).node("QuantizeLinear", "q", {"pad_y", "xs", "xz"});
    EXPECT_EQ(operators(simplified(builder)), (Names{"Identity", "Pad"}));
}

TEST(QuantisedFunctions, MapsOfOtherScalesAreJoinedAsIntegers) {
    ModelBuilder builder = start();
    builder.node("Tanh", "tanh", {"x_y"}).node("QuantizeLinear", "t", {"tanh_y", "ys", "yz"});
    builder.node("DequantizeLinear", "dt", {"t_y", "ys", "yz"});
    builder.node("Concat", "both", {"x_y", "dt_y"}).integer("axis", 1);
    builder.node("QuantizeLinear", "q", {"both_y", "xs", "xz"});
    EXPECT_EQ(operators(simplified(builder)), (Names{"Concat", lookup_op}));
}

TEST(QuantisedFunctions, AReluAfterAQuantiserOfItsScaleGoesBeforeIt) {
    ModelBuilder builder = start();
    builder.floats("w", {4, 4, 1, 1}, test::some_numbers(16, -9, 9, 5));
    builder.node("Conv", "conv", {"x_y", "w"})
        .node("QuantizeLinear", "first", {"conv_y", "ys", "yz"});
    builder.node("DequantizeLinear", "real", {"first_y", "ys", "yz"})
        .node("Relu", "relu", {"real_y"});
    builder.node("QuantizeLinear", "q", {"relu_y", "ys", "yz"});
    EXPECT_EQ(operators(simplified(builder)),
              (Names{"Conv", "DequantizeLinear", "QuantizeLinear", "Relu"}));
}

/// Maps of one size or another, each after its own quantiser or one of another one's scale.
class RandomModel {
 public:
    explicit RandomModel(unsigned seed) : random_(seed) {
        builder.input("x", {1, 4, 8, 8}, onnx::TensorProto_DataType_INT8);
        maps_.push_back({"x", new_scale(), {1, 4, 8, 8}});
        const unsigned steps = 2 + pick(8);
        for (unsigned i = 0; i < steps; ++i) {
            add("n" + std::to_string(i));
        }
        builder.output(maps_.back().tensor);
        if (maps_.size() > 3) {
            builder.output(maps_[maps_.size() - 2].tensor);
        }
    }
    ModelBuilder builder;

 private:
    struct Map {
        std::string tensor;
        std::string scale;
        std::vector<std::int64_t> sizes;
    };

    unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }
    std::string new_scale() {
        const std::string name = "s" + std::to_string(scales_++);
        builder.floats(name, {}, {0.01F + static_cast<float>(pick(1000)) * 1e-4F});
        builder.int8s(name + "z", {}, {static_cast<int>(pick(256)) - 128});
        return name;
    }
    std::string real(const Map& map, const std::string& name) {
        builder.node("DequantizeLinear", name, {map.tensor, map.scale, map.scale + "z"});
        return builder.last();
    }
    void quantise(const std::string& name, const std::string& scale,
                  const std::vector<std::int64_t>& sizes) {
        builder.node("QuantizeLinear", name + "q", {builder.last(), scale, scale + "z"});
        maps_.push_back({builder.last(), scale, sizes});
    }

    void add(const std::string& name) {
        const Map from = maps_[pick(static_cast<unsigned>(maps_.size()))];
        const std::string scale = pick(2) == 0 ? from.scale : new_scale();
        const std::string input = real(from, name + "d");
        std::vector<std::int64_t> sizes = from.sizes;
        switch (pick(6)) {
            case 0:
                function(name, input);
                break;
            case 1:
                builder.node("Transpose", name, {input}).ints("perm", {0, 1, 3, 2});
                std::swap(sizes[2], sizes[3]);
                break;
            case 2:
                builder.node("MaxPool", name, {input}).ints("kernel_shape", {3, 2});
                builder.ints("pads", {1, 0, 1, 1});
                break;
            case 3:
                builder.int64s(name + "p", {0, 0, 1, 0, 0, 0, 0, 1});
                builder.node("Pad", name, {input, name + "p"});
                ++sizes[2];
                ++sizes[3];
                break;
            case 4:
                pair(name, input, from, "Mul");
                break;
            default:
                pair(name, input, from, "Concat");
                sizes[1] *= 2;
        }
        quantise(name, scale, sizes);
    }
    void function(const std::string& name, const std::string& input) {
        constexpr std::array<const char*, 5> functions{"Sigmoid", "Relu", "Tanh", "Abs", "Erf"};
        builder.node(functions.at(pick(functions.size())), name, {input});
    }
    /// With another map of its size, or with itself.
    void pair(const std::string& name, const std::string& input, const Map& from, const char* op) {
        Map other = from;
        for (const Map& map : maps_) {
            other = map.sizes == from.sizes && pick(2) == 0 ? map : other;
        }
        const std::string second = real(other, name + "e");
        builder.node(op, name, {input, second});
        if (std::string_view(op) == "Concat") {
            builder.integer("axis", 1);
        }
    }

    std::mt19937 random_;
    unsigned scales_ = 0;
    std::vector<Map> maps_;
};

TEST(QuantisedFunctions, RandomModelsKeepEveryNumber) {
    for (unsigned seed = 1; seed <= 300; ++seed) {
        SCOPED_TRACE(seed);
        Graph graph = parse_onnx(RandomModel(seed).builder.bytes(), "random.onnx");
        prepare_graph(graph);
        const std::vector<double> expected = results(graph);
        move_between_quantisers(graph);
        prepare_graph(graph);
        tabulate_functions(graph);
        prepare_graph(graph);
        EXPECT_EQ(results(graph), expected);
    }
}

}  // namespace
}  // namespace npuscope::quantised_functions_test
