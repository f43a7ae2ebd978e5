// SPDX-License-Identifier: Apache-2.0
#include "sim/model/onnx_writer.h"

#include <gtest/gtest.h>

#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "tests/support/model_builder.h"

namespace npuscope {
namespace {

using test::ModelBuilder;

TEST(OnnxWriter, WhatIsReadAgainIsTheSameGraph) {
    ModelBuilder builder(11);
    builder.input("x", {1, 4, 6, 6}).floats("w", {8, 4, 3, 3}, test::some_numbers(288, -9, 9, 1));
    builder.node("Conv", "conv", {"x", "w"}).ints("strides", {2, 2}).integer("group", 1);
    builder.node("LeakyRelu", "leaky", {builder.last()}).number("alpha", 0.25F);
    builder.node("Resize", "grow", {builder.last(), "roi", "scales"}).text("mode", "nearest");
    builder.floats("roi", {0}, {}).floats("scales", {4}, {1, 1, 2, 2});
    builder.int8s("zero", {}, {-3}).floats("scale", {}, {0.5F});
    builder.node("QuantizeLinear", "q", {builder.last(), "scale", "zero"}, "y").output("y");
    Graph graph = parse_onnx(builder.bytes(), "m.onnx");
    prepare_graph(graph);
    Graph again = parse_onnx(onnx_bytes(graph, "1.2"), "m.onnx");
    prepare_graph(again);
    EXPECT_EQ(again.opset, graph.opset);
    EXPECT_EQ(again.inputs, graph.inputs);
    EXPECT_EQ(again.outputs, graph.outputs);
    EXPECT_EQ(again.constants, graph.constants);
    EXPECT_EQ(again.types, graph.types);
    ASSERT_EQ(again.nodes.size(), graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        EXPECT_EQ(again.nodes[i].op, graph.nodes[i].op);
        EXPECT_EQ(again.nodes[i].inputs, graph.nodes[i].inputs);
        EXPECT_EQ(again.nodes[i].attributes, graph.nodes[i].attributes) << i;
    }
}

TEST(OnnxWriter, DomainsAreImportedAndOurRemarksStayOut) {
    ModelBuilder builder;
    builder.input("x", {1, 4}).node("Relu", "r", {"x"}, "y").output("y");
    Graph graph = parse_onnx(builder.bytes(), "m.onnx");
    prepare_graph(graph);
    graph.nodes[0].op = "com.example.Relu";
    graph.nodes[0].attributes["npuscope.remark"] = std::int64_t{1};
    const Graph again = parse_onnx(onnx_bytes(graph, "1.2"), "m.onnx");
    EXPECT_EQ(again.nodes[0].op, "com.example.Relu");
    EXPECT_TRUE(again.nodes[0].attributes.empty());
}

}  // namespace
}  // namespace npuscope
