// SPDX-License-Identifier: Apache-2.0
// Quantised models of any scales on a TINPU, whose 8-bit weights have only shifts: bit-exact with
// the rewritten graph, within few steps of the model, and all MACs on the NPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "sim/compile/tinpu/layer_plan.h"
#include "sim/model/prepare_graph.h"
#include "tests/sim/compile/tinpu/layer_fixture.h"
#include "tests/sim/run/quantised_model.h"

namespace npuscope {
namespace {

using test::QuantisedModel;

constexpr double most_steps = 12;  ///< of inputs spread over all codes

/// The largest difference from the model's results that the layers state, in steps.
double stated_steps(const Result& result) {
    double steps = 0;
    for (const LayerRecord& layer : result.layers) {
        if (!layer.on_host && layer.deviation) {
            EXPECT_TRUE(layer.deviation->folded);
            EXPECT_GT(layer.deviation->expected, 0);
            steps = std::max(steps, layer.deviation->steps());
        }
    }
    return steps;
}

/// No result is more than `limit` steps from the model's, nor more than its layer states; all that
/// multiplies runs on the NPU. Returns the share of results that differ.
double expect_near(const Graph& raw, const std::string& output, ScaleForm form, double limit) {
    const Graph exact = finish_graph(raw);
    const Graph folded = finish_graph(raw, form);
    const GraphInputs inputs =
        test::some_inputs(exact, raw.types.at(raw.inputs.front()).element, 11);
    const LayerNpuConfig config = test::bundled_preset();
    const ModelResult run = test::run_plan(folded, plan_layers(folded, config), config, &inputs);
    EXPECT_EQ(run.result.model->host.macs, 0U);
    EXPECT_EQ(run.result.status(), RunStatus::Unchecked);
    const auto numbers_of = [&](const Graph& graph) {
        return test::run_on(graph, test::host_only(), inputs).outputs.at(output).numbers;
    };
    const std::vector<double>& numbers = run.outputs.at(output).numbers;
    EXPECT_EQ(numbers, numbers_of(folded));
    const std::vector<double> wanted = numbers_of(exact);
    const double most = std::min(limit, stated_steps(run.result));
    double differ = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        EXPECT_LE(std::abs(numbers[i] - wanted[i]), most) << i;
        differ += numbers[i] == wanted[i] ? 0 : 1;
    }
    return differ / static_cast<double>(numbers.size());
}

/// Maps that are read once, twice and as needed, of inputs that fill all codes evenly: twice is
/// never far off, and seldom at all.
void expect_near(QuantisedModel& model, const std::string& output, double limit) {
    constexpr double seldom = 0.1;
    const double near = std::min(limit, 2.0);
    model.builder.output(output);
    const Graph raw = parse_onnx(model.builder.bytes(), "built.onnx");
    expect_near(raw, output, ScaleForm::Folded, limit);
    expect_near(raw, output, ScaleForm::FoldedNear, near);
    EXPECT_LT(expect_near(raw, output, ScaleForm::FoldedTwice, near), seldom);
}

/// Averages of four codes at one scale: a quarter of the sums lies halfway between two results, and
/// half of those differ.
TEST(FoldedAverages, ResultsHalfwayBetweenTwoAreExpectedToDiffer) {
    test::ModelBuilder builder;
    builder.input("x", {1, 8, 24, 24}, test::int8_code);
    builder.floats("s", {}, {0.0173F}).int8s("z", {}, {3});
    builder.node("DequantizeLinear", "dq", {"x", "s", "z"});
    builder.node("AveragePool", "pool", {"dq_y"});
    builder.ints("kernel_shape", {2, 2}).ints("strides", {2, 2});
    builder.node("QuantizeLinear", "q", {"pool_y", "s", "z"}, "y").output("y");
    const Graph raw = parse_onnx(builder.bytes(), "built.onnx");
    const Graph exact = finish_graph(raw);
    const GraphInputs inputs = test::some_inputs(exact, ElementType::Int8, 11);
    const std::vector<double> wanted =
        test::run_on(exact, test::host_only(), inputs).outputs.at("y").numbers;
    for (const ScaleForm form : {ScaleForm::Folded, ScaleForm::Rounded}) {
        const Graph graph = finish_graph(raw, form);
        const std::vector<double> numbers =
            test::run_on(graph, test::host_only(), inputs).outputs.at("y").numbers;
        double differ = 0;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            differ += numbers[i] == wanted[i] ? 0 : 1;
        }
        ASSERT_EQ(graph.rounded.size(), 1U);
        EXPECT_NEAR(graph.rounded[0].deviation.expected, 0.125, 0.001);
        EXPECT_NEAR(differ / static_cast<double>(numbers.size()), 0.125, 0.04);
    }
}

class FoldedWeights : public ::testing::TestWithParam<std::tuple<bool, unsigned>> {
 protected:
    QuantisedModel model() const { return {std::get<1>(GetParam()), std::get<0>(GetParam())}; }
};

TEST_P(FoldedWeights, Convolution) {
    QuantisedModel model = this->model();
    expect_near(model, model.conv("y", model.input("x", 12, 9), 12, 20, 3), most_steps);
}

TEST_P(FoldedWeights, ChannelsThatAreNoFours) {
    QuantisedModel model = this->model();
    expect_near(model, model.conv("y", model.input("x", 3, 9), 3, 10, 3), most_steps);
}

TEST_P(FoldedWeights, OneChannel) {
    QuantisedModel model = this->model();
    expect_near(model, model.conv("y", model.input("x", 1, 9), 1, 8, 3), most_steps);
}

TEST_P(FoldedWeights, Groups) {
    QuantisedModel model = this->model();
    expect_near(model, model.conv("y", model.input("x", 12, 7), 12, 8, 3, 2), most_steps);
}

TEST_P(FoldedWeights, DepthwiseConvolutionOfOddChannels) {
    QuantisedModel model = this->model();
    expect_near(model, model.conv("y", model.input("x", 6, 9), 6, 6, 3, 6), most_steps);
}

TEST_P(FoldedWeights, DilatedDepthwiseConvolution) {
    for (const std::int64_t dilation : {2, 3, 5}) {
        QuantisedModel model = this->model();
        const std::string x = model.input("x", 6, 13);
        expect_near(model, model.conv("y", x, 6, 6, 3, 6, dilation), most_steps);
    }
}

TEST_P(FoldedWeights, DilatedConvolutionOfOneChannel) {
    QuantisedModel model = this->model();
    expect_near(model, model.conv("y", model.input("x", 1, 14), 1, 8, 5, 1, 2), most_steps);
}

TEST_P(FoldedWeights, TransposedConvolution) {
    QuantisedModel model = this->model();
    const std::string x = model.input("x", 8, most_steps);
    expect_near(model, model.transposed_conv("y", x, {8, 9, 4, 4}, 2, 1, 0), most_steps);
}

TEST_P(FoldedWeights, ConvolutionInOneDirection) {
    QuantisedModel model = this->model();
    const std::string x = model.input("x", {1, 6, 40});
    expect_near(model, model.line_conv("y", x, {14, 6, 5}), most_steps);
}

TEST_P(FoldedWeights, TransposedConvolutionOfGroups) {
    QuantisedModel model = this->model();
    const std::string x = model.input("x", 12, 6);
    expect_near(model, model.transposed_groups("y", x, {12, 5, 4, 4}, 3), most_steps);
}

TEST_P(FoldedWeights, TransposedConvolutionInOneDirection) {
    QuantisedModel model = this->model();
    const std::string x = model.input("x", {1, 8, 12});
    expect_near(model, model.transposed_line_conv("y", x, {8, 9, 5}), most_steps);
}

TEST_P(FoldedWeights, ThoseOfConvolutionsInThreeDirectionsStayTheModels) {
    QuantisedModel model = this->model();
    const std::string x = model.input("x", {1, 3, 4, 5, 5});
    const std::string y = model.volume_conv("y", x, {4, 3, 3, 3, 3});
    model.builder.output(y);
    const Graph raw = parse_onnx(model.builder.bytes(), "built.onnx");
    const Graph exact = finish_graph(raw);
    const GraphInputs inputs = test::some_inputs(exact, raw.types.at("x").element, 11);
    const auto numbers_of = [&](const Graph& graph) {
        return test::run_on(graph, test::host_only(), inputs).outputs.at(y).numbers;
    };
    EXPECT_EQ(numbers_of(finish_graph(raw, ScaleForm::FoldedNear)), numbers_of(exact));
}

TEST_P(FoldedWeights, RealOnesLoseNothingButHalves) {
    QuantisedModel model = this->model();
    const std::string a = model.conv("a", model.input("x", 12, 9), 12, 20, 3);
    model.builder.output(model.conv("y", a, 20, 8, 3, 4));
    const Graph raw = parse_onnx(model.builder.bytes(), "built.onnx");
    const Graph exact = finish_graph(raw);
    const Graph real = finish_graph(raw, ScaleForm::FoldedReal);
    EXPECT_TRUE(
        std::ranges::any_of(real.nodes, [](const GraphNode& node) { return node.op == "Conv"; }));
    const GraphInputs inputs = test::some_inputs(exact, raw.types.at("x").element, 11);
    const auto numbers_of = [&](const Graph& graph) {
        return test::run_on(graph, test::host_only(), inputs).outputs.at("y").numbers;
    };
    const std::vector<double> wanted = numbers_of(exact);
    const std::vector<double> found = numbers_of(real);
    std::size_t differ = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_LE(std::abs(found[i] - wanted[i]), 1) << i;
        differ += found[i] == wanted[i] ? 0U : 1U;
    }
    EXPECT_LE(differ, wanted.size() / 200);
}

TEST_P(FoldedWeights, ProductOfSeveralRows) {
    QuantisedModel model = this->model();
    expect_near(model, model.product("y", model.input("x", {1, 9, 24}), {24, 20}), most_steps);
}

TEST_P(FoldedWeights, ProductOfAConstantMatrixAndAMap) {
    for (const Sizes& sizes : {Sizes{1, 24, 9}, Sizes{24, 9}, Sizes{2, 1, 24, 9}}) {
        QuantisedModel model = this->model();
        expect_near(model, model.left_product("y", {20, 24}, model.input("x", sizes)), most_steps);
    }
}

TEST_P(FoldedWeights, MeanOfAPlane) {
    QuantisedModel model = this->model();
    expect_near(model, model.mean("y", model.input("x", 24, 7)), 1);
}

INSTANTIATE_TEST_SUITE_P(Numbers, FoldedWeights,
                         ::testing::Combine(::testing::Bool(), ::testing::Values(1U, 2U, 3U)));

}  // namespace
}  // namespace npuscope
