// SPDX-License-Identifier: Apache-2.0
// What stands between quantisers and needs no real numbers: the integers stay those of the model, bit by
// bit, with fewer operators.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "sim/model/host_values.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/quantised_form.h"
#include "tests/support/model_builder.h"

namespace npuscope {
namespace {

using test::ModelBuilder;

/// A map of int8 with each code once, as real numbers of the scale 0.05 in `x_y`.
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
    return values.at(graph.outputs.front()).numbers;
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

}  // namespace
}  // namespace npuscope
