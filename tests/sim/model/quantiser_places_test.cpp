// SPDX-License-Identifier: Apache-2.0
// Graphs with quantisers and constants where exporters place them, in the form that layers have:
// fewer operators, the same results.
#include "sim/model/quantiser_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/model/host_values.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/quantised_form.h"
#include "tests/support/model_builder.h"

namespace npuscope::quantiser_places_test {
namespace {

using test::ModelBuilder;
using Names = std::vector<std::string>;

constexpr int map_channels = 4;

/// A dequantised map `x_y` of 4 channels of 8 x 8, weights `w_y` of 4 kernels for it, scales `s`
/// and `t` with zero points `sz` and `tz` for results.
ModelBuilder start(std::int64_t opset = 13, const std::vector<int>& weights = {}) {
    ModelBuilder builder(opset);
    builder.input("x", {1, map_channels, 8, 8}, onnx::TensorProto_DataType_INT8);
    builder.floats("xs", {}, {0.05F}).int8s("xz", {}, {3});
    builder.floats("s", {}, {0.25F}).int8s("sz", {}, {-7});
    builder.floats("t", {}, {0.125F}).int8s("tz", {}, {5});
    builder.node("DequantizeLinear", "x", {"x", "xs", "xz"});
    std::vector<int> numbers = weights;
    for (const float number : test::some_numbers(weights.empty() ? 16 : 0, -90, 90, 5)) {
        numbers.push_back(static_cast<int>(number));
    }
    builder.int8s("w", {map_channels, map_channels, 1, 1}, numbers);
    builder.floats("ws", {map_channels}, {0.01F, 0.02F, 0.015F, 0.03F});
    builder.int8s("wz", {map_channels}, {0, 0, 0, 0});
    builder.node("DequantizeLinear", "w", {"w", "ws", "wz"}).integer("axis", 0);
    return builder;
}

/// The same with a convolution, whose result is `conv_y`.
ModelBuilder convolution(std::int64_t opset = 13, const std::vector<int>& weights = {}) {
    ModelBuilder builder = start(opset, weights);
    builder.node("Conv", "conv", {"x_y", "w_y"});
    return builder;
}

/// Each int8 code once.
std::vector<double> results(const Graph& graph) {
    GraphValue codes = zeros(graph.types.at(graph.inputs.front()));
    for (std::size_t i = 0; i < codes.numbers.size(); ++i) {
        codes.numbers[i] = static_cast<double>(i % 256) - 128;
    }
    HostValues values(graph, value_ranges(graph));
    for (const std::string& input : graph.inputs) {
        values.take_input(input, {{input, codes}});
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

Graph read(ModelBuilder& builder) {
    if (builder.graph().output_size() == 0) {
        builder.output(builder.last());
    }
    Graph graph = parse_onnx(builder.bytes(), "built.onnx");
    prepare_graph(graph);
    return graph;
}

/// The graph after all passes, whose results are the model's.
Graph placed(ModelBuilder& builder) {
    Graph graph = read(builder);
    const std::vector<double> expected = results(graph);
    place_quantisers(graph);
    prepare_graph(graph);
    EXPECT_EQ(results(graph), expected);
    return graph;
}

/// Operators in their order, without dequantisers.
Names operators(const Graph& graph) {
    Names names;
    for (const GraphNode& node : graph.nodes) {
        if (node.op != "DequantizeLinear") {
            names.push_back(node.op);
        }
    }
    return names;
}

/// Whether all products of the graph are layers of integers.
bool is_layer(const Graph& graph) {
    const GraphView view(graph);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const auto layer = read_quantised_layer(view, i);
        if (layer && !layer->obstacle.empty()) {
            return false;
        }
    }
    return true;
}

// --- Quantisers after operators that move elements ---

TEST(RaisedQuantisers, AQuantiserAfterAPoolGoesBeforeIt) {
    ModelBuilder builder = convolution();
    builder.node("Relu", "relu", {"conv_y"}).node("MaxPool", "pool", {"relu_y"});
    builder.ints("kernel_shape", {3, 3}).ints("pads", {1, 1, 1, 1}).ints("strides", {2, 2});
    builder.node("QuantizeLinear", "q", {"pool_y", "s", "sz"});
    const Graph graph = placed(builder);
    EXPECT_EQ(operators(graph), (Names{"Conv", "Relu", "QuantizeLinear", "MaxPool"}));
    EXPECT_EQ(graph.nodes.back().outputs.front(), "q_y");
    EXPECT_TRUE(is_layer(graph));
}

TEST(RaisedQuantisers, AQuantiserPassesSeveralMoversAndTakesTheActivationAlong) {
    ModelBuilder builder = convolution();
    builder.node("Transpose", "turn", {"conv_y"}).ints("perm", {0, 2, 3, 1});
    builder.int64s("rows", {1, -1, map_channels}).node("Reshape", "flat", {"turn_y", "rows"});
    builder.node("Relu", "relu", {"flat_y"}).node("QuantizeLinear", "q", {"relu_y", "s", "sz"});
    EXPECT_EQ(operators(placed(builder)),
              (Names{"Conv", "Relu", "QuantizeLinear", "Transpose", "Reshape"}));
}

TEST(RaisedQuantisers, AllReadersOfALayerMustQuantiseAlike) {
    for (const bool alike : {true, false}) {
        ModelBuilder builder = convolution();
        builder.node("MaxPool", "pool", {"conv_y"}).ints("kernel_shape", {2, 2});
        builder.node("QuantizeLinear", "p", {"pool_y", "s", "sz"});
        builder.node("QuantizeLinear", "q", {"conv_y", alike ? "s" : "t", "sz"});
        builder.output("p_y").output("q_y");
        EXPECT_EQ(operators(placed(builder)),
                  (Names{"Conv", alike ? "QuantizeLinear" : "MaxPool",
                         alike ? "MaxPool" : "QuantizeLinear", "QuantizeLinear"}));
    }
}

TEST(RaisedQuantisers, ResultsOfTheModelAndScalesPerChannelStay) {
    ModelBuilder seen = convolution();
    seen.node("MaxPool", "pool", {"conv_y"}).ints("kernel_shape", {2, 2});
    seen.node("QuantizeLinear", "q", {"pool_y", "s", "sz"}).output("pool_y").output("q_y");
    const Names before{"Conv", "MaxPool", "QuantizeLinear"};
    EXPECT_EQ(operators(placed(seen)), before);
    ModelBuilder scales = convolution();
    scales.node("MaxPool", "pool", {"conv_y"}).ints("kernel_shape", {2, 2});
    scales.node("QuantizeLinear", "q", {"pool_y", "ws", "wz"}).integer("axis", 1);
    EXPECT_EQ(operators(placed(scales)), before);
}

// --- Equal quantisers ---

TEST(EqualQuantisers, OfOneTensorAreOne) {
    ModelBuilder builder = convolution();
    builder.floats("again", {}, {0.25F}).int8s("againz", {}, {-7});
    builder.node("QuantizeLinear", "a", {"conv_y", "s", "sz"});
    builder.node("QuantizeLinear", "b", {"conv_y", "again", "againz"});
    builder.node("QuantizeLinear", "c", {"conv_y", "again", "tz"});
    builder.node("DequantizeLinear", "da", {"a_y", "s", "sz"});
    builder.node("DequantizeLinear", "db", {"b_y", "again", "againz"});
    builder.node("DequantizeLinear", "dc", {"c_y", "again", "tz"});
    builder.node("Add", "ab", {"da_y", "db_y"}).node("Add", "abc", {"ab_y", "dc_y"});
    const Graph graph = placed(builder);
    EXPECT_EQ(operators(graph), (Names{"Conv", "QuantizeLinear", "QuantizeLinear", "Add", "Add"}));
    EXPECT_EQ(graph.nodes[graph.nodes.size() - 2].inputs, (Names{"da_y", "da_y"}));
}

TEST(EqualQuantisers, ResultsOfTheModelKeepTheirNames) {
    ModelBuilder builder = convolution();
    builder.node("QuantizeLinear", "a", {"conv_y", "s", "sz"});
    builder.node("QuantizeLinear", "b", {"conv_y", "s", "sz"}).output("a_y").output("b_y");
    EXPECT_EQ(operators(placed(builder)), (Names{"Conv", "QuantizeLinear", "QuantizeLinear"}));
}

// --- Limits ---

TEST(JoinedLimits, LimitsBeforeAQuantiserAreOneClip) {
    for (const std::int64_t opset : {10, 13}) {
        ModelBuilder builder = convolution(opset);
        builder.floats("six", {}, {6}).floats("two", {1}, {2});
        builder.node("Relu", "relu", {"conv_y"}).node("Min", "min", {"six", "relu_y"});
        builder.node("Max", "max", {"min_y", "two"});
        builder.node("QuantizeLinear", "q", {"max_y", "s", "sz"});
        const Graph graph = placed(builder);
        EXPECT_EQ(operators(graph), (Names{"Conv", "Clip", "QuantizeLinear"}));
        EXPECT_EQ(graph.nodes[3].number("min", -1), opset == 10 ? 2 : -1);
        EXPECT_EQ(graph.nodes[3].inputs.size(), opset == 10 ? 1 : 3);
    }
}

TEST(JoinedLimits, AMaximumWithZeroIsARelu) {
    ModelBuilder builder = convolution();
    builder.floats("none", {}, {0}).node("Max", "max", {"conv_y", "none"});
    builder.node("QuantizeLinear", "q", {"max_y", "s", "sz"});
    EXPECT_EQ(operators(placed(builder)), (Names{"Conv", "Relu", "QuantizeLinear"}));
}

TEST(JoinedLimits, AMaximumPerChannelOrOfTwoMapsStays) {
    ModelBuilder builder = convolution();
    builder.floats("c", {1, map_channels, 1, 1}, {0, 1, 2, 3});
    builder.node("Max", "max", {"conv_y", "c"}).node("Min", "min", {"max_y", "x_y"});
    builder.node("QuantizeLinear", "q", {"min_y", "s", "sz"});
    EXPECT_EQ(operators(placed(builder)), (Names{"Conv", "Max", "Min", "QuantizeLinear"}));
}

// --- Constants per kernel ---

TEST(FoldedConstants, ANormalisationChangesScalesAndBias) {
    ModelBuilder builder = convolution();
    builder.floats("gamma", {map_channels}, {1.5F, -0.5F, 0, 2});
    builder.floats("beta", {map_channels}, {0.25F, 3, 1, -1});
    builder.floats("mean", {map_channels}, {0.5F, -2, 0.125F, 1});
    builder.floats("var", {map_channels}, {0.9F, 2, 1, 0.3F});
    builder.node("BatchNormalization", "bn", {"conv_y", "gamma", "beta", "mean", "var"});
    builder.node("Relu", "relu", {"bn_y"}).node("QuantizeLinear", "q", {"relu_y", "s", "sz"});
    const Graph graph = placed(builder);
    EXPECT_EQ(operators(graph), (Names{"Conv", "Relu", "QuantizeLinear"}));
    EXPECT_TRUE(is_layer(graph));
    EXPECT_EQ(graph.constants.count("w"), 0) << "unread weights are dropped";
}

TEST(FoldedConstants, SumsAndFactorsOfEveryForm) {
    struct Row {
        const char* op;
        std::vector<std::int64_t> sizes;
        bool folds;
    };
    const std::vector<Row> rows{{"Add", {1, map_channels, 1, 1}, true},
                                {"Add", {map_channels, 1, 1}, true},
                                {"Sub", {}, true},
                                {"Mul", {map_channels, 1, 1}, true},
                                {"Div", {1, 1, 1, 1}, true},
                                {"Add", {map_channels}, false},
                                {"Mul", {1, 1, 1, 8}, false},
                                {"Add", {1, 1, map_channels, 1, 1}, false}};
    for (const Row& row : rows) {
        SCOPED_TRACE(row.op + std::to_string(row.sizes.size()));
        std::size_t count = 1;
        for (const std::int64_t size : row.sizes) {
            count *= static_cast<std::size_t>(size);
        }
        std::vector<float> numbers;
        for (const float number : test::some_numbers(count, 1, 30, 9)) {
            numbers.push_back(number / 8);
        }
        ModelBuilder builder = start();
        if (row.sizes == std::vector<std::int64_t>{map_channels}) {  // along the width
            builder.int64s("from", {0}).int64s("to", {map_channels}).int64s("axis", {3});
            builder.node("Slice", "part", {"x_y", "from", "to", "axis"});
        } else {
            builder.node("Identity", "part", {"x_y"});
        }
        builder.node("Conv", "conv", {"part_y", "w_y"});
        builder.floats("c", row.sizes, numbers).node(row.op, "more", {"conv_y", "c"});
        builder.node("QuantizeLinear", "q", {"more_y", "s", "sz"});
        Graph graph = read(builder);
        move_between_quantisers(graph);
        prepare_graph(graph);
        const std::vector<double> expected = results(graph);
        place_quantisers(graph);
        prepare_graph(graph);
        EXPECT_EQ(results(graph), expected);
        const Names names = operators(graph);
        EXPECT_EQ(std::ranges::count(names, row.op) == 0, row.folds);
    }
}

TEST(FoldedConstants, ADifferenceFromAConstantNegatesTheWeights) {
    for (const int lowest : {-127, -128}) {
        std::vector<int> weights(16, 20);
        weights[5] = lowest;
        ModelBuilder builder = convolution(13, weights);
        builder.floats("c", {}, {2}).node("Sub", "sub", {"c", "conv_y"});
        builder.node("QuantizeLinear", "q", {"sub_y", "s", "sz"});
        const Names folded{"Conv", "QuantizeLinear"};
        const Names kept{"Conv", "Sub", "QuantizeLinear"};
        EXPECT_EQ(operators(placed(builder)), lowest == -127 ? folded : kept);
    }
}

TEST(FoldedConstants, AConstantMayBeDequantisedAndTheLayerHaveABias) {
    ModelBuilder builder = start();
    builder.int8s("b", {map_channels}, {40, -20, 3, 0}, onnx::TensorProto_DataType_INT32);
    builder.floats("bs", {map_channels}, {0.01F, 0.02F, 0.03F, 0.04F});
    builder.node("DequantizeLinear", "b", {"b", "bs"}).integer("axis", 0);
    builder.int8s("c", {map_channels, 1, 1}, {-5, 6, 7, 8});
    builder.node("DequantizeLinear", "c", {"c", "xs", "xz"});
    builder.node("Conv", "conv", {"x_y", "w_y", "b_y"}).node("Add", "add", {"c_y", "conv_y"});
    builder.node("QuantizeLinear", "q", {"add_y", "s", "sz"});
    const Graph graph = placed(builder);
    EXPECT_EQ(operators(graph), (Names{"Conv", "QuantizeLinear"}));
    EXPECT_TRUE(is_layer(graph));
}

/// `x` as 64 rows of 4, weights [4 5].
ModelBuilder matrix(const std::string& op) {
    ModelBuilder builder(13);
    builder.input("x", {64, map_channels}, onnx::TensorProto_DataType_INT8);
    builder.floats("xs", {}, {0.05F}).int8s("xz", {}, {3});
    builder.floats("s", {}, {0.25F}).int8s("sz", {}, {-7});
    builder.node("DequantizeLinear", "x", {"x", "xs", "xz"});
    std::vector<int> numbers;
    for (const float number : test::some_numbers(20, -90, 90, 5)) {
        numbers.push_back(static_cast<int>(number));
    }
    builder.int8s("w", {map_channels, 5}, numbers);
    builder.floats("ws", {5}, {0.01F, 0.02F, 0.015F, 0.03F, 0.04F});
    builder.node("DequantizeLinear", "w", {"w", "ws"}).integer("axis", -1);
    builder.node(op, "product", {"x_y", "w_y"});
    return builder;
}

TEST(FoldedConstants, AMatrixProductKeepsAnAdditionOfItsBias) {
    for (const char* op : {"MatMul", "Gemm"}) {
        ModelBuilder builder = matrix(op);
        builder.floats("f", {5}, {2, 1, 0.5F, 3, -1}).floats("b", {1, 5}, {1, 2, 3, 4, 5});
        builder.node("Mul", "mul", {"product_y", "f"}).node("Add", "add", {"mul_y", "b"});
        builder.node("QuantizeLinear", "q", {"add_y", "s", "sz"});
        const Graph graph = placed(builder);
        const bool gemm = std::string(op) == "Gemm";
        EXPECT_EQ(operators(graph), gemm ? (Names{"Gemm", "QuantizeLinear"})
                                         : (Names{"MatMul", "Add", "QuantizeLinear"}));
        EXPECT_TRUE(is_layer(graph));
    }
}

TEST(QuantisedLayers, WeightsWithAScalePerInputChannelAreNotIntegers) {
    ModelBuilder builder = start();
    builder.node("DequantizeLinear", "v", {"w", "ws", "wz"}).integer("axis", 1);
    builder.node("Conv", "conv", {"x_y", "v_y"}).node("QuantizeLinear", "q", {"conv_y", "s", "sz"});
    EXPECT_FALSE(is_layer(placed(builder)));
}

// --- Moved constants ---

TEST(MovedConstants, WeightsAreMovedAsIntegersWithTheirScales) {
    ModelBuilder builder = start();
    builder.int8s("v", {1, 1, map_channels, map_channels},
                  {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
    builder.node("DequantizeLinear", "v", {"v", "ws", "wz"}).integer("axis", 3);
    builder.node("Transpose", "turn", {"v_y"}).ints("perm", {3, 2, 0, 1});
    builder.node("Conv", "conv", {"x_y", "turn_y"});
    builder.node("QuantizeLinear", "q", {"conv_y", "s", "sz"});
    const Graph graph = placed(builder);
    EXPECT_EQ(operators(graph), (Names{"Conv", "QuantizeLinear"}));
    EXPECT_TRUE(is_layer(graph));
}

TEST(MovedConstants, AReshapeMayKeepTheAxisOfTheScales) {
    for (const bool keeps : {true, false}) {
        ModelBuilder builder = start();
        builder.int8s("v",
                      keeps ? std::vector<std::int64_t>{4, 4} : std::vector<std::int64_t>{2, 4, 2},
                      {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
        builder.node("DequantizeLinear", "v", {"v", "ws", "wz"}).integer("axis", keeps ? 0 : 1);
        builder.int64s("to", {map_channels, map_channels, 1, 1});
        builder.node("Reshape", "turn", {"v_y", "to"}).node("Conv", "conv", {"x_y", "turn_y"});
        builder.node("QuantizeLinear", "q", {"conv_y", "s", "sz"});
        EXPECT_EQ(operators(placed(builder)), keeps ? Names({"Conv", "QuantizeLinear"})
                                                    : Names({"Reshape", "Conv", "QuantizeLinear"}));
    }
}

// --- Maps of one scale that are joined ---

TEST(JoinedMaps, MapsOfOneScaleAreJoinedAsIntegersWhateverReadsThem) {
    ModelBuilder builder = start();
    builder.node("Concat", "both", {"x_y", "x_y"}).integer("axis", 2);
    builder.node("Conv", "conv", {"both_y", "w_y"});
    builder.node("QuantizeLinear", "q", {"conv_y", "s", "sz"});
    Graph graph = read(builder);
    const std::vector<double> expected = results(graph);
    move_between_quantisers(graph);
    prepare_graph(graph);
    EXPECT_EQ(results(graph), expected);
    EXPECT_EQ(graph.constants.count("both_y_integers"), 0);
    EXPECT_TRUE(is_layer(graph));
    const GraphView view(graph);
    const auto joined = view.producer("both_y_integers");
    ASSERT_TRUE(joined);
    EXPECT_EQ(view.node(*joined).op, "Concat");
    EXPECT_EQ(view.node(*joined).inputs, (Names{"x", "x"}));
}

// --- Residual sums ---

/// A layer of `x`, added to `x`, between quantisers of int8.
ModelBuilder residual() {
    ModelBuilder builder = convolution(13, {3, -5, 7, 1, -2, 9, 4, -6, 8, 2, -3, 5, -7, 6, 1, -4});
    builder.floats("os", {}, {0.06F}).int8s("oz", {}, {0});
    builder.node("Add", "sum", {"conv_y", "x_y"}).node("Relu", "relu", {"sum_y"});
    builder.node("QuantizeLinear", "q", {"relu_y", "os", "oz"});
    return builder;
}

TEST(ResidualSums, ALayerWithoutAQuantiserGetsOne) {
    ModelBuilder builder = residual();
    Graph graph = read(builder);
    const std::vector<double> expected = results(graph);
    const std::vector<ResidualSum> sums = quantise_residuals(graph);
    prepare_graph(graph);
    ASSERT_EQ(sums.size(), 1);
    EXPECT_EQ(sums.front().name, "sum");
    EXPECT_EQ(sums.front().layer, "conv");
    // sums from -0.03 to 7.65 are not clipped; the map has values from -6.55 to 6.2
    EXPECT_NEAR(sums.front().step, (7.65 + 6.55 + 0.03 + 6.2) / 254 / 0.06, 1e-4);
    EXPECT_TRUE(is_layer(graph));
    const std::vector<double> found = results(graph);
    double largest = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        largest = std::max(largest, std::abs(found[i] - expected[i]));
    }
    EXPECT_EQ(largest, 1);
}

TEST(ResidualSums, TheDeviationIsStatedForTheSum) {
    ModelBuilder builder = residual();
    builder.output(builder.last());
    const Graph graph =
        finish_graph(parse_onnx(builder.bytes(), "built.onnx"), ScaleForm::RoundedThird);
    EXPECT_EQ(std::ranges::count(operators(graph), scaled_sum_op), 1);
    const auto sum = std::ranges::find(graph.rounded, "sum", &RoundedLayer::name);
    ASSERT_NE(sum, graph.rounded.end());
    EXPECT_GT(sum->deviation.largest, 0.66);
    EXPECT_EQ(sum->deviation.steps(), 1);
    EXPECT_NEAR(sum->deviation.expected, 0.345, 0.03);
    EXPECT_EQ(std::ranges::count(graph.rounded, "sum", &RoundedLayer::name), 1);
}

TEST(ResidualSums, ALayerThatIsReadTwiceOrNotQuantisedStays) {
    ModelBuilder twice = residual();
    twice.output("conv_y").output("q_y");
    Graph graph = read(twice);
    EXPECT_TRUE(quantise_residuals(graph).empty());
    ModelBuilder floats = start();
    floats.node("Sigmoid", "f", {"x_y"}).node("Add", "sum", {"f_y", "x_y"});
    floats.node("QuantizeLinear", "q", {"sum_y", "s", "sz"});
    graph = read(floats);
    EXPECT_TRUE(quantise_residuals(graph).empty());
}

// --- Models that quantise only their weights ---

TEST(QuantisedWeights, AreFloatsWhereMapsAreFloats) {
    ModelBuilder floats(13);
    floats.input("x", {1, 1, 2, 2}).int8s("w", {1, 1, 1, 1}, {3}).floats("ws", {}, {0.5F});
    floats.node("DequantizeLinear", "w", {"w", "ws"}).node("Conv", "conv", {"x", "w_y"});
    const Graph graph = read(floats);
    EXPECT_EQ(operators(graph), Names{"Conv"});
    ASSERT_TRUE(graph.is_constant("w_y"));
    EXPECT_EQ(graph.constants.at("w_y").numbers, std::vector<double>{1.5});
    ModelBuilder quantised = convolution();
    EXPECT_FALSE(read(quantised).is_constant("w_y"));
}

}  // namespace
}  // namespace npuscope::quantiser_places_test
