// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/quantise_model.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/model/onnx_reader.h"
#include "sim/model/onnx_writer.h"
#include "sim/model/prepare_graph.h"
#include "tests/sim/message_of.h"
#include "tests/sim/quantise/run_on_host.h"
#include "tests/support/float_model.h"

namespace npuscope {
namespace {

using sample::prepared;
using test::ModelBuilder;
using ::testing::HasSubstr;

std::vector<Case> some_cases(const Sizes& sizes, unsigned count) {
    std::vector<Case> cases;
    for (unsigned i = 0; i < count; ++i) {
        cases.push_back({{"x", test::float_input(sizes, i + 20)}});
    }
    return cases;
}

const GraphNode& node_of(const Graph& graph, const std::string& name) {
    return *std::ranges::find(graph.nodes, name, &GraphNode::name);
}

TEST(QuantiseModel, IsAQdqModelWithFloatEndsNearTheModelOfFloats) {
    const std::vector<Case> cases = some_cases({1, 3, 8, 8}, 6);
    const QuantisedModel model = quantise_model(prepared(test::float_model(11)), cases, {});
    EXPECT_EQ(model.products, 3U);
    EXPECT_EQ(model.opset, 11U);
    EXPECT_EQ(model.graph.opset, 13U);
    EXPECT_GT(output_decibels(model.rows), 30);
    EXPECT_EQ(model.graph.types.at("x").element, ElementType::Float32);
    EXPECT_EQ(model.graph.types.at("y").element, ElementType::Float32);
    const GraphNode& conv = node_of(model.graph, "b");
    const GraphView view(model.graph);
    const GraphNode& weights = view.node(*view.producer(conv.inputs[1]));
    EXPECT_EQ(weights.op, "DequantizeLinear");
    EXPECT_EQ(model.graph.constant(weights.inputs[0])->type.element, ElementType::Int8);
    EXPECT_EQ(model.graph.constant(weights.inputs[1])->numbers.size(), 4U);  // a scale per kernel
    const GraphNode& bias = view.node(*view.producer(conv.inputs[2]));
    EXPECT_EQ(model.graph.constant(bias.inputs[0])->type.element, ElementType::Int32);
    // what only moves numbers moves integers
    EXPECT_EQ(model.graph.types.at(node_of(model.graph, "flat").inputs[0]).element,
              ElementType::Int8);
}

/// As the class of each pixel beside its scores.
TEST(QuantiseModel, IndicesBesideFloatsDoNotCount) {
    const std::vector<Case> cases = some_cases({1, 3, 8, 8}, 2);
    ModelBuilder builder = test::float_model();
    builder.node("ArgMax", "best", {"y"}).integer("axis", 1).output("best_y");
    const QuantisedModel model = quantise_model(prepared(builder), cases, {});
    std::vector<std::string> outputs;
    for (const NoiseRow& row : model.rows) {
        if (row.is_output) {
            outputs.push_back(row.tensor);
        }
    }
    EXPECT_THAT(outputs, ::testing::ElementsAre("y"));
    EXPECT_GT(output_decibels(model.rows), 30);
}

TEST(QuantiseModel, WhatIsWrittenAndReadAgainComputesTheSame) {
    const std::vector<Case> cases = some_cases({1, 3, 8, 8}, 2);
    const QuantisedModel model = quantise_model(prepared(test::float_model()), cases, {});
    Graph again = parse_onnx(onnx_bytes(model.graph, "1"), "q.onnx");
    prepare_graph(again);
    EXPECT_EQ(sample::host_output(again, cases[1]), sample::host_output(model.graph, cases[1]));
}

TEST(QuantiseModel, EveryLayerRunsOnTheNpuAfterIt) {
    const QuantisedModel model =
        quantise_model(prepared(test::float_model()), some_cases({1, 3, 8, 8}, 2), {});
    const Graph graph = finish_graph(model.graph, ScaleForm::Rounded);
    std::vector<std::string> left;  // only at the ends
    for (const GraphNode& node : graph.nodes) {
        if (node.op == "QuantizeLinear" || node.op == "DequantizeLinear") {
            left.push_back(node.op);
        }
    }
    EXPECT_EQ(left, (std::vector<std::string>{"QuantizeLinear", "DequantizeLinear"}));
}

/// A small map and one of far larger values, concatenated; the small one has another reader.
TEST(QuantiseModel, ASmallMapKeepsItsGridBesideALargeOne) {
    ModelBuilder builder;
    builder.input("x", {1, 3, 8, 8});
    test::append_conv(builder, "small", 3, 4, 1);
    const std::string small = builder.last();
    builder.floats("l_w", {4, 3, 1, 1}, test::some_fractions(12, 40, 4));
    builder.node("Conv", "large", {"x", "l_w"});
    builder.node("Concat", "both", {small, builder.last()}).integer("axis", 1);
    test::append_conv(builder, "wide", 8, 4, 5);
    const std::string wide = builder.last();
    builder.floats("n_w", {4, 4, 1, 1}, test::some_fractions(16, 1, 6));
    builder.node("Conv", "narrow", {small, "n_w"}, "y").output("y").output(wide);
    const QuantisedModel model = quantise_model(prepared(builder), some_cases({1, 3, 8, 8}, 4), {});
    const auto row = std::ranges::find(model.rows, small, &NoiseRow::tensor);
    ASSERT_NE(row, model.rows.end());
    EXPECT_GT(row->decibels, 35);
    const GraphNode& both = node_of(model.graph, "both");
    const GraphView view(model.graph);
    EXPECT_EQ(view.node(*view.producer(both.inputs[0])).op, "QuantizeLinear");
    EXPECT_EQ(view.node(*view.producer(both.inputs[0])).inputs[0], small + "_dequantized");
}

TEST(QuantiseModel, ARepeatedMapIsRepeatedAsIntegers) {
    for (const char* mode : {"nearest", "linear"}) {
        ModelBuilder builder;
        builder.input("x", {1, 3, 8, 8});
        builder.floats("w", {4, 3, 1, 1}, test::some_fractions(12, 0.5F, 1));
        builder.floats("v", {4, 4, 1, 1}, test::some_fractions(16, 0.5F, 2));
        builder.floats("scales", {4}, {1, 1, 2, 2});
        builder.node("Conv", "first", {"x", "w"});
        builder.node("Resize", "up", {builder.last(), "", "scales"}).text("mode", mode);
        builder.node("Conv", "second", {builder.last(), "v"}, "y").output("y");
        const Graph graph =
            quantise_model(prepared(builder), some_cases({1, 3, 8, 8}, 1), {}).graph;
        const auto up = std::ranges::find(graph.nodes, "Resize", &GraphNode::op);
        ASSERT_NE(up, graph.nodes.end());
        EXPECT_EQ(graph.types.at(up->outputs.front()).element == ElementType::Int8,
                  std::string(mode) == "nearest");
    }
}

TEST(QuantiseModel, BiasesTakeBackWhatRoundedWeightsShift) {
    ModelBuilder builder;
    builder.input("x", {1, 3, 8, 8});
    std::vector<float> weights = test::some_fractions(3 * 4 * 9, 0.004F, 3);
    for (std::size_t k = 0; k < 4; ++k) {
        weights[k * 27] = 1;  // so that all others are rounded to 0 or one step
    }
    builder.floats("w", {4, 3, 3, 3}, weights).floats("b", {4}, {0.1F, 0.2F, 0.3F, 0.4F});
    builder.node("Conv", "conv", {"x", "w", "b"}, "y").output("y");
    std::vector<Case> cases = some_cases({1, 3, 8, 8}, 4);
    for (Case& one : cases) {
        for (double& number : one.at("x").numbers) {
            number = std::abs(number) + 1;  // inputs with a mean
        }
    }
    QuantiseOptions options;
    const double corrected =
        output_decibels(quantise_model(prepared(builder), cases, options).rows);
    options.correct_biases = false;
    const double plain = output_decibels(quantise_model(prepared(builder), cases, options).rows);
    EXPECT_GT(corrected, plain + 1);
}

TEST(QuantiseModel, OddModelsAreQuantisedAsFarAsTheyGo) {
    ModelBuilder builder;
    builder.input("x", {1, 3, 8, 8});
    builder.floats("zero_w", {2, 3, 1, 1}, std::vector<float>(6, 0)).floats("zero_b", {2}, {5, -1});
    builder.node("Conv", "zeros", {"x", "zero_w", "zero_b"});
    builder.floats("one_w", {2, 2, 1, 1}, {0.5F, 0, 0, 0.25F});
    builder.node("Conv", "dead", {builder.last(), "one_w"});
    builder.node("Relu", "relu", {builder.last()}, "y").output("y").output("dead_y");
    const QuantisedModel model = quantise_model(prepared(builder), some_cases({1, 3, 8, 8}, 1), {});
    EXPECT_GT(output_decibels(model.rows), 30);
}

/// A kernel without use has tiny weights beside its bias.
TEST(QuantiseModel, AKernelWithoutUseGetsAScaleLikeTheOthers) {
    ModelBuilder builder;
    builder.input("x", {1, 3, 8, 8});
    std::vector<float> weights = test::some_fractions(108, 0.3F, 3);
    std::fill(weights.begin(), weights.begin() + 27, 1e-7F);
    builder.floats("w", {4, 3, 3, 3}, weights).floats("b", {4}, {1.5F, 0.2F, 0.3F, 0.4F});
    builder.node("Conv", "conv", {"x", "w", "b"}, "y").output("y");
    const QuantisedModel model = quantise_model(prepared(builder), some_cases({1, 3, 8, 8}, 2), {});
    const auto& scales = model.graph.constant("y_weight_scale")->numbers;
    EXPECT_GT(scales[0], scales[1] / 10'000);
    const auto& biases = model.graph.constant("y_bias_quantized")->numbers;
    EXPECT_NEAR(biases[0], 0x1p22, 0x1p10);
}

TEST(QuantiseModel, WhatAMatMulsResultIsAddedToIsInWholeStepsOfItsSums) {
    ModelBuilder builder;
    builder.input("x", {4, 8}).floats("w", {8, 3}, test::some_fractions(24, 0.3F, 3));
    const std::vector<float> given{0.12345F, -0.2345F, 0.3456F};
    builder.floats("b", {3}, given);
    builder.node("MatMul", "product", {"x", "w"});
    builder.node("Add", "sum", {builder.last(), "b"}, "y").output("y");
    const QuantisedModel model = quantise_model(prepared(builder), some_cases({4, 8}, 2), {});
    const GraphNode& sum = node_of(model.graph, "sum");
    const auto& biases = model.graph.constant(sum.inputs[1])->numbers;
    const auto& scales = model.graph.constant("product_y_weight_scale")->numbers;
    const double input = model.graph.constant("x_scale")->numbers[0];
    for (std::size_t k = 0; k < biases.size(); ++k) {
        const double steps = biases[k] / (input * scales[k]);
        EXPECT_NEAR(steps, std::nearbyint(steps), 1e-3) << k;
        EXPECT_NEAR(steps, given[k] / (input * scales[k]), 0.51);
    }
}

TEST(QuantiseModel, ResizesOfWideIntegersAndHalvesAreWhatOnnxHas) {
    for (const MapType type : {MapType::Int16, MapType::Fp16}) {
        ModelBuilder builder;
        builder.input("x", {1, 3, 8, 8});
        test::append_conv(builder, "a", 3, 4, 1);
        builder.floats("scales", {4}, {1, 1, 2, 2}).floats("roi", {0}, {});
        builder.node("Resize", "up", {builder.last(), "roi", "scales"});
        test::append_conv(builder, "b", 4, 4, 5);
        builder.node("Identity", "end", {builder.last()}, "y").output("y");
        QuantiseOptions options;
        options.type = type;
        const QuantisedModel model =
            quantise_model(prepared(builder), some_cases({1, 3, 8, 8}, 1), options);
        const GraphNode& up = node_of(model.graph, "up");
        EXPECT_EQ(model.graph.constant(up.inputs[2])->type.element, ElementType::Float32);
        EXPECT_TRUE(is_float(model.graph.types.at(up.inputs[0]).element));
    }
}

TEST(QuantiseModel, ModelsOfIntegersAndNoCasesAreRefused) {
    const auto message = [](Graph graph, const std::vector<Case>& cases) {
        return sample::message_of([&] { quantise_model(std::move(graph), cases, {}); });
    };
    EXPECT_THAT(message(prepared(test::float_model()), {}), HasSubstr("no input to calibrate"));
    const QuantisedModel model =
        quantise_model(prepared(test::float_model()), some_cases({1, 3, 8, 8}, 1), {});
    EXPECT_THAT(message(model.graph, some_cases({1, 3, 8, 8}, 1)),
                HasSubstr("the model has no float layers to quantise"));
    EXPECT_THAT(message(prepared(test::float_model()), some_cases({1, 3, 8, 7}, 1)),
                HasSubstr("input 'x' is 1x3x8x7, but the model takes 1x3x8x8"));
}

TEST(QuantiseByShape, MakesIntegersOfTheEndsTooAndSaysSo) {
    Graph graph = prepared(test::float_model());
    quantise_by_shape(graph);
    ASSERT_EQ(graph.notes.size(), 1U);
    EXPECT_EQ(graph.notes[0].id, "by_shape");
    EXPECT_TRUE(std::ranges::any_of(
        graph.nodes, [](const GraphNode& node) { return node.op == "QuantizeLinear"; }));
    EXPECT_EQ(graph.types.at(graph.inputs.front()).element, ElementType::Int8);
    EXPECT_NE(graph.nodes.front().op, "QuantizeLinear");
    EXPECT_NE(graph.nodes.back().op, "DequantizeLinear");
    const std::size_t nodes = graph.nodes.size();
    quantise_by_shape(graph);  // nothing is left to do
    EXPECT_EQ(graph.nodes.size(), nodes);
    EXPECT_EQ(graph.notes.size(), 1U);
}

}  // namespace
}  // namespace npuscope
