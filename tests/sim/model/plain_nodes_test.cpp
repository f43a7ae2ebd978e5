// SPDX-License-Identifier: Apache-2.0
// Copies are left out, and means over a map are global pools, with the same values.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "tests/support/model_builder.h"

namespace npuscope::plain_nodes_test {
namespace {

using test::ModelBuilder;
using ::testing::ElementsAre;

Graph plain(const ModelBuilder& builder) {
    Graph graph = parse_onnx(builder.bytes(), "m.onnx");
    prepare_graph(graph);
    use_plain_nodes(graph);
    prepare_graph(graph);
    return graph;
}

std::vector<std::string> operators_of(const Graph& graph) {
    std::vector<std::string> operators;
    for (const GraphNode& node : graph.nodes) {
        operators.push_back(node.op);
    }
    return operators;
}

TEST(PlainNodes, CopiesAreLeftOutBetweenOthers) {
    ModelBuilder builder;
    builder.input("x", {1, 4}).node("Relu", "relu", {"x"});
    builder.node("Identity", "same", {builder.last()}).node("Dropout", "drop", {builder.last()});
    builder.node("Neg", "neg", {builder.last()}, "y").output("y");
    const Graph graph = plain(builder);
    EXPECT_THAT(operators_of(graph), ElementsAre("Relu", "Neg"));
    EXPECT_THAT(graph.nodes[1].inputs, ElementsAre("relu_y"));
}

TEST(PlainNodes, ACopyThatIsAnOutputOrOfIntegersStays) {
    ModelBuilder builder;
    builder.input("x", {1, 4}).node("Identity", "same", {"x"}, "y").output("y");
    EXPECT_THAT(operators_of(plain(builder)), ElementsAre("Identity"));
    builder = ModelBuilder();
    builder.input("x", {1, 4}, onnx::TensorProto_DataType_INT8).node("Identity", "same", {"x"});
    builder.node("Relu", "relu", {builder.last()}, "y").output("y");
    EXPECT_THAT(operators_of(plain(builder)), ElementsAre("Identity", "Relu"));
}

ModelBuilder mean_of(const std::vector<std::int64_t>& axes, std::int64_t keeps,
                     std::int64_t opset) {
    ModelBuilder builder(opset);
    builder.input("x", {2, 3, 4, 5});
    if (opset < 18) {
        builder.node("ReduceMean", "mean", {"x"}, "y").ints("axes", axes);
    } else {
        builder.int64s("axes", axes).node("ReduceMean", "mean", {"x", "axes"}, "y");
    }
    builder.integer("keepdims", keeps).output("y");
    return builder;
}

TEST(PlainNodes, AMeanOverHeightAndWidthIsAGlobalPool) {
    for (const std::int64_t opset : {13, 18}) {
        Graph graph = plain(mean_of({3, 2}, 1, opset));
        EXPECT_THAT(operators_of(graph), ElementsAre("GlobalAveragePool"));
        EXPECT_EQ(graph.types.at("y").sizes, (Sizes{2, 3, 1, 1}));
        graph = plain(mean_of({-2, -1}, 0, opset));
        EXPECT_THAT(operators_of(graph), ElementsAre("GlobalAveragePool", "Flatten"));
        EXPECT_EQ(graph.types.at("y").sizes, (Sizes{2, 3}));
    }
    EXPECT_THAT(operators_of(plain(mean_of({1, 2}, 0, 13))), ElementsAre("ReduceMean"));
    EXPECT_THAT(operators_of(plain(mean_of({2}, 1, 13))), ElementsAre("ReduceMean"));
}

TEST(PlainNodes, AMaximumOverAMapIsAPool) {
    ModelBuilder builder;
    builder.input("x", {1, 3, 4, 5}).node("GlobalMaxPool", "pool", {"x"}, "y").output("y");
    const Graph graph = plain(builder);
    EXPECT_THAT(operators_of(graph), ElementsAre("MaxPool"));
    EXPECT_EQ(graph.types.at("y").sizes, (Sizes{1, 3, 1, 1}));
}

TEST(PlainNodes, AveragesOverALineAreOverAMapOfOneColumn) {
    ModelBuilder builder;
    builder.input("x", {2, 3, 9}).node("AveragePool", "pool", {"x"}, "y");
    builder.ints("kernel_shape", {3}).ints("strides", {2}).ints("pads", {1, 0}).output("y");
    builder.node("GlobalAveragePool", "all", {"x"}, "z").output("z");
    const Graph graph = plain(builder);
    EXPECT_THAT(operators_of(graph), ElementsAre("Reshape", "AveragePool", "Reshape", "Reshape",
                                                 "GlobalAveragePool", "Reshape"));
    EXPECT_EQ(graph.nodes[1].integers("pads"), (std::vector<std::int64_t>{1, 0, 0, 0}));
    EXPECT_EQ(graph.types.at("y/column").sizes, (Sizes{2, 3, 9, 1}));
    EXPECT_EQ(graph.types.at("y").sizes, (Sizes{2, 3, 4}));
    EXPECT_EQ(graph.types.at("z").sizes, (Sizes{2, 3, 1}));
}

TEST(PlainNodes, AveragesStateTheirPaddingAndWhetherTheyCutWindows) {
    ModelBuilder builder;
    builder.input("x", {1, 3, 8, 9});
    for (const char* pool : {"same", "up", "cut"}) {
        const std::int64_t columns = pool == std::string("up") ? 3 : 2;
        builder.node("AveragePool", pool, {"x"}).ints("kernel_shape", {2, columns});
        builder.ints("strides", {2, columns});
        pool == std::string("same") ? builder.text("auto_pad", "SAME_UPPER")
                                    : builder.integer("ceil_mode", 1);
        builder.output(builder.last());
    }
    const Graph graph = plain(builder);
    EXPECT_FALSE(graph.nodes[0].has("auto_pad"));
    EXPECT_EQ(graph.nodes[0].integers("pads"), (std::vector<std::int64_t>{0, 0, 0, 1}));
    EXPECT_FALSE(graph.nodes[1].has("ceil_mode"));
    EXPECT_EQ(graph.types.at("up_y").sizes, (Sizes{1, 3, 4, 3}));
    EXPECT_EQ(graph.nodes[2].integer("ceil_mode", 0), 1);
    EXPECT_EQ(graph.types.at("cut_y").sizes, (Sizes{1, 3, 4, 5}));
}

TEST(PlainNodes, PartsOfASplitAreSlices) {
    ModelBuilder builder;
    builder.input("x", {1, 6, 2}).int64s("sizes", {1, 3, 2});
    builder.node("Split", "split", {"x", "sizes"}, "a").integer("axis", -2);
    builder.last_node().add_output("b");
    builder.last_node().add_output("c");
    builder.output("a").output("b").output("c");
    Graph graph = plain(builder);
    slice_parts(graph);
    prepare_graph(graph);
    EXPECT_THAT(operators_of(graph), ElementsAre("Slice", "Slice", "Slice"));
    EXPECT_EQ(graph.types.at("b").sizes, (Sizes{1, 3, 2}));
    EXPECT_EQ(graph.constants.at(graph.nodes[2].inputs[1]).numbers, (std::vector<double>{4}));
}

}  // namespace
}  // namespace npuscope::plain_nodes_test
