// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/float_graph.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "tests/sim/message_of.h"
#include "tests/sim/quantise/run_on_host.h"
#include "tests/support/float_model.h"
#include "tests/support/sample_models.h"

namespace npuscope {
namespace {

using sample::host_output;
using sample::prepared;
using test::ModelBuilder;
using ::testing::HasSubstr;

std::ptrdiff_t count(const Graph& graph, const std::string& op) {
    return std::ranges::count(graph.nodes, op, &GraphNode::op);
}

/// The same outputs within float rounding.
void expect_same(const Graph& before, const Graph& after, const Case& inputs) {
    const GraphValue wanted = host_output(before, inputs);
    const GraphValue found = host_output(after, inputs);
    ASSERT_EQ(wanted.type, found.type);
    for (std::size_t i = 0; i < wanted.numbers.size(); ++i) {
        ASSERT_NEAR(wanted.numbers[i], found.numbers[i], 1e-4) << i;
    }
}

TEST(FloatGraph, ModelsOfIntegersInFloatsAreNotModelsOfFloats) {
    EXPECT_TRUE(is_float_model(prepared(test::float_model())));
    EXPECT_FALSE(is_float_model(prepared(test::conv_model({}, {}))));
    ModelBuilder none;
    none.input("x", {1, 4}).node("Sigmoid", "s", {"x"}, "y").output("y");
    EXPECT_FALSE(is_float_model(prepared(none)));
}

TEST(FloatGraph, ProductsOfAConstantMatrixAndAMapBecomeConvolutions) {
    ModelBuilder builder;
    builder.input("x", {2, 6, 5}).floats("w", {4, 6}, test::some_fractions(24, 0.5F, 1));
    builder.node("MatMul", "product", {"w", "x"}, "y").output("y");
    const Graph before = prepared(builder);
    Graph after = before;
    ready_for_quantisation(after);
    EXPECT_EQ(count(after, "MatMul"), 0);
    EXPECT_EQ(count(after, "Conv"), 1);
    expect_same(before, after, {{"x", test::float_input({2, 6, 5}, 9)}});
}

TEST(FloatGraph, AnActivationAfterSuchAProductIsThatOfTheConvolution) {
    ModelBuilder builder;
    builder.input("x", {1, 6, 5}).floats("w", {4, 6}, test::some_fractions(24, 0.5F, 1));
    builder.floats("low", {}, {-0.25F}).floats("high", {}, {0.5F});
    builder.node("MatMul", "product", {"w", "x"});
    builder.node("Clip", "clip", {builder.last(), "low", "high"}, "y").output("y");
    const Graph before = prepared(builder);
    Graph after = before;
    ready_for_quantisation(after);
    const auto conv = std::ranges::find(after.nodes, "Conv", &GraphNode::op);
    const auto clip = std::ranges::find(after.nodes, "Clip", &GraphNode::op);
    ASSERT_TRUE(conv != after.nodes.end() && clip != after.nodes.end());
    EXPECT_EQ(clip->inputs.front(), conv->outputs.front());
    expect_same(before, after, {{"x", test::float_input({1, 6, 5}, 9)}});
}

/// x [1 3 6 6] -> Conv without bias -> BatchNormalization -> Mul, Sub per kernel -> Relu -> y.
ModelBuilder normed_model(const std::string& op) {
    ModelBuilder builder;
    builder.input("x", {1, 3, 6, 6});
    const bool spread = op == "ConvTranspose";
    builder.floats(
        "w", spread ? std::vector<std::int64_t>{3, 4, 3, 3} : std::vector<std::int64_t>{4, 3, 3, 3},
        test::some_fractions(108, 0.5F, 1));
    builder.node(op, "conv", {"x", "w"});
    for (const char* name : {"scale", "shift", "mean"}) {
        builder.floats(name, {4}, test::some_fractions(4, 1, static_cast<unsigned>(name[1])));
    }
    builder.floats("variance", {4}, {0.5F, 1, 2, 0.1F});
    builder.node("BatchNormalization", "norm",
                 {builder.last(), "scale", "shift", "mean", "variance"});
    builder.floats("factor", {1, 4, 1, 1}, {2, 0.5F, -1, 3})
        .floats("less", {4, 1, 1}, {1, 2, 3, 4});
    builder.node("Mul", "mul", {builder.last(), "factor"});
    builder.node("Sub", "sub", {builder.last(), "less"});
    builder.node("Relu", "relu", {builder.last()}, "y").output("y");
    return builder;
}

TEST(FloatGraph, WhatFollowsAProductKernelByKernelGoesIntoIt) {
    for (const char* op : {"Conv", "ConvTranspose"}) {
        const Graph before = prepared(normed_model(op));
        Graph after = before;
        ready_for_quantisation(after);
        EXPECT_EQ(after.nodes.size(), 2U) << op;
        expect_same(before, after, {{"x", test::float_input({1, 3, 6, 6}, 9)}});
    }
}

TEST(FloatGraph, ANormalisationThatNoProductTakesIsOneItself) {
    ModelBuilder builder;
    builder.input("x", {1, 3, 6, 6});
    for (const char* name : {"scale", "shift", "mean"}) {
        builder.floats(name, {3}, test::some_fractions(3, 1, static_cast<unsigned>(name[1])));
    }
    builder.floats("variance", {3}, {0.5F, 1, 2}).floats("factor", {1, 3, 1, 1}, {2, 0.5F, -1});
    builder.node("BatchNormalization", "norm", {"x", "scale", "shift", "mean", "variance"});
    builder.node("Mul", "mul", {builder.last(), "factor"});
    builder.node("Relu", "relu", {builder.last()}, "y").output("y");
    const Graph before = prepared(builder);
    Graph after = before;
    ready_for_quantisation(after);
    ASSERT_EQ(after.nodes.size(), 2U);
    EXPECT_TRUE(is_product(after, after.nodes[0]));
    EXPECT_EQ(after.nodes[0].integer("group", 1), 3);
    expect_same(before, after, {{"x", test::float_input({1, 3, 6, 6}, 9)}});
}

TEST(FloatGraph, AnAdditionToAllOfAMapStays) {
    ModelBuilder builder;
    builder.input("x", {1, 3, 6, 6}).floats("w", {4, 3, 3, 3}, test::some_fractions(108, 0.5F, 1));
    builder.node("Conv", "conv", {"x", "w"});
    builder.floats("more", {1, 1, 4, 4}, test::some_fractions(16, 1, 2));
    builder.node("Add", "add", {builder.last(), "more"}, "y").output("y");
    Graph graph = prepared(builder);
    ready_for_quantisation(graph);
    EXPECT_EQ(count(graph, "Add"), 1);
}

TEST(FloatGraph, TheFactorsOfAGemmGoIntoItsWeights) {
    ModelBuilder builder;
    builder.input("x", {1, 8}).floats("w", {4, 8}, test::some_fractions(32, 0.5F, 1));
    builder.floats("b", {4}, test::some_fractions(4, 1, 2));
    builder.node("Gemm", "fc", {"x", "w", "b"}, "y").number("alpha", 0.5F).number("beta", 3);
    builder.integer("transB", 1).output("y");
    const Graph before = prepared(builder);
    Graph after = before;
    ready_for_quantisation(after);
    EXPECT_FALSE(after.nodes[0].has("alpha"));
    expect_same(before, after, {{"x", test::float_input({1, 8}, 3)}});
}

TEST(RaiseOpset, OlderFormsGiveTheSame) {
    ModelBuilder builder(9);
    builder.input("x", {1, 3, 4, 4}).floats("w", {4, 3, 1, 1}, test::some_fractions(12, 0.5F, 1));
    builder.node("Conv", "conv", {"x", "w"});
    builder.node("Clip", "clip", {builder.last()}).number("min", -0.5F).number("max", 0.75F);
    builder.floats("scales", {4}, {1, 1, 2, 2});
    builder.node("Upsample", "grow", {builder.last(), "scales"}).text("mode", "nearest");
    builder.node("Slice", "slice", {builder.last()})
        .ints("starts", {1})
        .ints("ends", {3})
        .ints("axes", {2});
    builder.node("Pad", "pad", {builder.last()}).ints("pads", {0, 0, 1, 0, 0, 0, 0, 1});
    builder.node("ReduceSum", "sum", {builder.last()}).ints("axes", {2, 3}).integer("keepdims", 0);
    builder.node("Unsqueeze", "wide", {builder.last()}).ints("axes", {2});
    builder.node("Squeeze", "flat", {builder.last()}).ints("axes", {2});
    builder.node("Softmax", "soft", {builder.last()}, "y").output("y");
    const Graph before = prepared(builder);
    Graph after = before;
    raise_opset(after);
    EXPECT_EQ(after.opset, 13U);
    EXPECT_EQ(count(after, "Upsample"), 0);
    expect_same(before, after, {{"x", test::float_input({1, 3, 4, 4}, 5)}});
}

TEST(RaiseOpset, OperatorsThatWereReplacedHaveTheirNewNames) {
    ModelBuilder builder(10);
    builder.input("x", {1, 3}).int64s("at", {0}).floats("new", {1}, {7});
    builder.node("Reshape", "list", {"at", "shape"}).node("Reshape", "row", {"new", "shape"});
    builder.int64s("shape", {1, 1});
    builder.node("Scatter", "put", {"x", "list_y", "row_y"}).integer("axis", 1);
    builder.node("Dropout", "drop", {builder.last()}, "y").number("ratio", 0.25F).output("y");
    builder.graph().mutable_node(3)->add_output("mask");
    builder.output("mask");
    const Graph before = prepared(builder);
    Graph after = before;
    raise_opset(after);
    EXPECT_EQ(count(after, "Scatter"), 0);
    EXPECT_EQ(count(after, "ScatterElements"), 1);
    EXPECT_FALSE(after.nodes.back().has("ratio"));
    EXPECT_EQ(after.nodes.back().outputs.size(), 2U);
}

TEST(RaiseOpset, MasksOfFloatsAreRefused) {
    ModelBuilder builder(7);
    builder.input("x", {1, 3}).node("Dropout", "drop", {"x"}, "y").output("y");
    builder.graph().mutable_node(0)->add_output("mask");
    builder.output("mask");
    Graph graph = prepared(builder);
    EXPECT_THAT(sample::message_of([&] { raise_opset(graph); }),
                HasSubstr("'drop' (Dropout): this form of the operator does not exist"));
}

TEST(FloatGraph, FloatsOf64BitsBecomeFloatsOf32) {
    ModelBuilder builder;
    builder.input("x", {1, 8}, onnx::TensorProto_DataType_DOUBLE);
    builder.floats("f", {4, 8}, test::some_fractions(32, 0.5F, 1));
    builder.node("Cast", "w", {"f"}).integer("to", onnx::TensorProto_DataType_DOUBLE);
    builder.node("Transpose", "t", {"w_y"}).node("MatMul", "m", {"x", "t_y"}, "y").output("y");
    Graph graph = prepared(builder);
    EXPECT_TRUE(is_float_model(graph));
    EXPECT_EQ(graph.types.at("y").element, ElementType::Float64);
    ready_for_quantisation(graph);
    EXPECT_EQ(graph.types.at("y").element, ElementType::Float32);
    EXPECT_EQ(graph.types.at("x").element, ElementType::Float32);
}

/// With rows that a Softmax of opset 13 does not have.
void expect_same_rows(const std::string& op, const std::vector<std::int64_t>& sizes,
                      std::ptrdiff_t reshapes) {
    ModelBuilder builder(11);
    builder.input("x", sizes).node(op, "soft", {"x"}, "y").output("y");
    const Graph before = prepared(builder);
    Graph after = before;
    raise_opset(after);
    EXPECT_EQ(count(after, "Reshape"), reshapes) << op;
    expect_same(before, after, {{"x", test::float_input(sizes, 5)}});
}

TEST(RaiseOpset, RowsOfSeveralDimensionsBecomeOne) {
    for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
        expect_same_rows(op, {2, 3, 4, 5}, 2);
        expect_same_rows(op, {2, 3, 1, 4}, 2);
        expect_same_rows(op, {2, 5, 1, 1}, 0);
        expect_same_rows(op, {2, 1, 5}, 0);
        expect_same_rows(op, {2, 1, 1}, 0);
    }
}

TEST(RaiseOpset, TheCountOfATopKBecomesAnOperand) {
    ModelBuilder builder(9);
    builder.input("x", {2, 5}).node("TopK", "top", {"x"}, "y").integer("k", 3).output("y");
    builder.last_node().add_output("indices");
    const Graph before = prepared(builder);
    Graph after = before;
    raise_opset(after);
    EXPECT_FALSE(after.nodes[0].has("k"));
    EXPECT_EQ(after.constant(after.nodes[0].input(1))->numbers, std::vector<double>{3});
    expect_same(before, after, {{"x", test::float_input({2, 5}, 5)}});
}

/// a and a depthwise layer, and, in parallel, b; both concatenated for the last one.
TEST(Equalise, ChannelsAreScaledAndTheResultIsTheSame) {
    ModelBuilder builder;
    builder.input("x", {1, 3, 6, 6});
    test::append_conv(builder, "a", 3, 4, 1);
    builder.floats("d_w", {4, 1, 3, 3}, test::some_fractions(36, 2, 5));
    builder.node("Conv", "d", {builder.last(), "d_w"})
        .integer("group", 4)
        .ints("pads", {1, 1, 1, 1});
    const std::string deep = builder.last();
    builder.floats("t_w", {3, 2, 1, 1}, test::some_fractions(6, 1, 6));
    builder.node("ConvTranspose", "t", {"x", "t_w"});
    builder.node("Concat", "both", {deep, builder.last()}).integer("axis", 1);
    test::append_conv(builder, "last", 6, 5, 8);
    builder.output(builder.last());
    Graph before = prepared(builder);
    Graph after = before;
    ASSERT_TRUE(equalise_channels(after));
    for (const char* node : {"a", "d", "t", "last"}) {
        const auto weights = [&](const Graph& graph) {
            const auto found = std::ranges::find(graph.nodes, node, &GraphNode::name);
            return graph.constants.at(found->inputs[1]).numbers;
        };
        EXPECT_NE(weights(before), weights(after)) << node;
    }
    expect_same(before, after, {{"x", test::float_input({1, 3, 6, 6}, 9)}});
}

TEST(Equalise, AlsoThroughAReluWithASlopeForEachChannel) {
    ModelBuilder builder;
    builder.input("x", {1, 3, 6, 6});
    builder.floats("a_w", {4, 3, 1, 1}, test::some_fractions(12, 2, 5));
    builder.node("Conv", "a", {"x", "a_w"});
    builder.floats("slopes", {4, 1, 1}, {0.25F, -0.5F, 0, 1.5F});
    builder.node("PRelu", "prelu", {builder.last(), "slopes"});
    test::append_conv(builder, "last", 4, 5, 8);
    builder.output(builder.last());
    const Graph before = prepared(builder);
    Graph after = before;
    EXPECT_TRUE(equalise_channels(after));
    expect_same(before, after, {{"x", test::float_input({1, 3, 6, 6}, 9)}});
}

}  // namespace
}  // namespace npuscope
