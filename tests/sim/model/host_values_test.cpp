// SPDX-License-Identifier: Apache-2.0
#include "sim/model/host_values.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "tests/support/model_builder.h"

namespace npuscope {
namespace {

/// y = relu(x), declared float32.
Graph relu() {
    test::ModelBuilder builder;
    builder.input("x", {1, 2}).node("Relu", "relu", {"x"}, "y").output("y");
    return finish_graph(parse_onnx(builder.bytes(), "m.onnx"));
}

GraphValue result_for(ElementType given) {
    const Graph graph = relu();
    const ValueRanges facts = value_ranges(graph, {{"x", {true, {-1, 3}, false}}});
    HostValues values(graph, facts);
    values.take_input("x", {{"x", {{given, {1, 2}}, {-1, 3}}}});
    values.evaluate(graph.nodes[0]);
    return values.stored("y", std::nullopt);
}

TEST(HostValues, FloatInputsGiveFloatResults) {
    EXPECT_EQ(result_for(ElementType::Float32).type.element, ElementType::Float32);
    EXPECT_EQ(result_for(ElementType::Int8).type.element, ElementType::Uint8);
}

TEST(HostValues, AnNpusMapDeterminesTheType) {
    const Graph graph = relu();
    HostValues values(graph, value_ranges(graph));
    values.put("y", {{ElementType::Float32, {1, 2}}, {-1, 3}});
    EXPECT_EQ(values.stored("y", true).type.element, ElementType::Int8);
    EXPECT_EQ(values.stored("y", false).type.element, ElementType::Uint8);
}

/// Types of more than 8 bits do not say whether a map of the values is signed.
TEST(HostValues, SignsAreThoseOfEightBitInputs) {
    const Graph graph = relu();
    const auto sign = [&](ElementType given) {
        HostValues values(graph, value_ranges(graph));
        return values.take_input("x", {{"x", {{given, {1, 2}}, {1, 3}}}});
    };
    EXPECT_EQ(sign(ElementType::Int8), true);
    EXPECT_EQ(sign(ElementType::Uint8), false);
    EXPECT_EQ(sign(ElementType::Int64), std::nullopt);
    EXPECT_EQ(sign(ElementType::Uint16), std::nullopt);
    EXPECT_EQ(sign(ElementType::Float32), std::nullopt);
}

/// As the past of a decoder before its first step.
TEST(HostValues, InputsMayHaveNoElements) {
    test::ModelBuilder builder;
    builder.input("past", {1, 2, 0, 4}).input("x", {1, 2, 3, 4});
    builder.node("Concat", "join", {"past", "x"}, "present").integer("axis", 2);
    builder.node("Relu", "relu", {"present"}, "y").output("y");
    const Graph graph = finish_graph(parse_onnx(builder.bytes(), "m.onnx"));
    HostValues values(graph, value_ranges(graph));
    values.take_input("past", {{"past", {{ElementType::Float32, {1, 2, 0, 4}}, {}}}});
    values.take_input("x",
                      {{"x", {{ElementType::Float32, {1, 2, 3, 4}}, std::vector<double>(24, 2)}}});
    for (const GraphNode& node : graph.nodes) {
        values.evaluate(node);
    }
    EXPECT_EQ(values.at("y").type.sizes, (Sizes{1, 2, 3, 4}));
    EXPECT_EQ(values.at("y").numbers, std::vector<double>(24, 2));
}

TEST(HostValues, AnOmittedFirstOutputHasATypeAndValues) {
    test::ModelBuilder builder;
    builder.input("x", {1, 1, 1})
        .floats("w", {1, 3, 1}, {1, 1, 1})
        .floats("r", {1, 3, 1}, {0, 0, 0});
    builder.node("GRU", "gru", {"x", "w", "r"}, "y").output("h");
    onnx::NodeProto& node = *builder.graph().mutable_node(0);
    node.set_output(0, "");
    node.add_output("h");
    const Graph graph = finish_graph(parse_onnx(builder.bytes(), "m.onnx"));
    HostValues values(graph, value_ranges(graph));
    values.take_input("x", {{"x", {{ElementType::Float32, {1, 1, 1}}, {0}}}});
    values.evaluate(graph.nodes[0]);
    EXPECT_THAT(values.at("h").numbers, ::testing::ElementsAre(0));
}

TEST(HostValues, UnreadOptionalOutputsAreLeftOut) {
    test::ModelBuilder builder;
    builder.input("x", {1, 2}).node("Dropout", "drop", {"x"}, "y").output("y");
    builder.graph().mutable_node(0)->add_output("mask");
    EXPECT_THAT(parse_onnx(builder.bytes(), "m.onnx").nodes[0].outputs,
                ::testing::ElementsAre("y"));
    builder.output("mask");
    EXPECT_THAT(parse_onnx(builder.bytes(), "m.onnx").nodes[0].outputs,
                ::testing::ElementsAre("y", "mask"));
}

}  // namespace
}  // namespace npuscope
