// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/mixed_precision.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/model/onnx_reader.h"
#include "sim/model/onnx_writer.h"
#include "sim/model/prepare_graph.h"
#include "sim/quantise/quantise_model.h"
#include "tests/sim/message_of.h"
#include "tests/sim/quantise/run_on_host.h"
#include "tests/support/float_model.h"

namespace npuscope {
namespace {

using sample::prepared;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<Case> four_cases() {
    std::vector<Case> cases;
    for (unsigned i = 0; i < 4; ++i) {
        cases.push_back({{"x", test::float_input({1, 3, 8, 8}, i + 20)}});
    }
    return cases;
}

QuantisedModel quantised(std::uint32_t target) {
    QuantiseOptions options;
    options.target_decibels = target;
    return quantise_model(prepared(test::float_model()), four_cases(), options);
}

std::string bytes_of(const QuantisedModel& model) { return onnx_bytes(model.graph, "1"); }

std::size_t count_of(const Graph& graph, const std::string& op) {
    return static_cast<std::size_t>(std::ranges::count(graph.nodes, op, &GraphNode::op));
}

TEST(MixedPrecision, AModelThatReachesTheTargetIsTheSameAsWithoutOne) {
    const QuantisedModel none = quantised(0);
    ASSERT_GT(none.worst, 25);
    EXPECT_EQ(none.before, none.worst);
    EXPECT_TRUE(none.left.empty());
    EXPECT_EQ(bytes_of(quantised(25)), bytes_of(none));
}

TEST(MixedPrecision, LayersStayFloatsUntilTheWorstInputReachesTheTarget) {
    const QuantisedModel model = quantised(60);
    EXPECT_LT(model.before, 60);
    EXPECT_GE(model.worst, 60);
    EXPECT_FALSE(model.left.empty());
    EXPECT_EQ(model.before, quantised(0).worst);
    for (const LeftLayer& layer : model.left) {
        const auto node = std::ranges::find(model.graph.nodes, layer.layer, &GraphNode::name);
        ASSERT_NE(node, model.graph.nodes.end());
        EXPECT_EQ(node->op, layer.op);
        if (node->op != "Add") {  // its weights are those of the float model
            EXPECT_GT(layer.macs, 0U);
            EXPECT_EQ(model.graph.constant(node->inputs[1])->type.element, ElementType::Float32);
        }
    }
}

TEST(MixedPrecision, TheRatioIsThatOfTheWorstInputAndOfTheGraphThatIsGiven) {
    for (const std::uint32_t target : {0U, 45U, 60U}) {
        const QuantisedModel model = quantised(target);
        const Graph floats = prepared(test::float_model());
        Graph again = parse_onnx(bytes_of(model), "q.onnx");  // the file as others read it
        prepare_graph(again);
        double worst = 200;
        for (const Case& one : four_cases()) {
            worst = std::min(worst, decibels_between(sample::host_output(floats, one),
                                                     sample::host_output(again, one)));
        }
        EXPECT_NEAR(model.worst, worst, 1e-3) << target;
    }
}

/// A quarter of a decibel more is found with other ranges only.
TEST(MixedPrecision, RangesOfTensorsAreChosenBeforeLayersAreLeft) {
    const QuantisedModel none = quantised(0);
    const auto target = static_cast<std::uint32_t>(std::floor(none.worst)) + 1;
    const QuantisedModel model = quantised(target);
    EXPECT_GE(model.worst, target);
    EXPECT_GT(model.chosen, 0U);
    EXPECT_THAT(model.left, SizeIs(0));
    EXPECT_EQ(model.products, none.products);
}

TEST(MixedPrecision, NothingIsQuantisedForATargetThatIntegersNeverReach) {
    const QuantisedModel model = quantised(most_target_decibels);
    EXPECT_EQ(model.products, 0U);
    EXPECT_EQ(count_of(model.graph, "QuantizeLinear"), 0U);
    EXPECT_EQ(model.worst, 200);
    EXPECT_EQ(model.left.size(), 4U);  // three products and a sum
}

TEST(MixedPrecision, AnInputWhoseOutputsAreZeroAsksForNothing) {
    test::ModelBuilder builder;
    builder.input("x", {1, 3, 8, 8});
    builder.floats("w", {4, 3, 1, 1}, test::some_fractions(12, 0.5F, 1));
    builder.node("Conv", "conv", {"x", "w"}, "y").output("y");
    std::vector<Case> cases = four_cases();
    std::ranges::fill(cases[2].at("x").numbers, 0);
    const QuantisedModel model = quantise_model(prepared(builder), cases, {});
    EXPECT_GT(model.worst, 25);
    EXPECT_TRUE(model.left.empty());
}

TEST(MixedPrecision, ATargetBeyondWhatCanBeMeasuredIsRefused) {
    EXPECT_THAT(sample::message_of([] { quantised(most_target_decibels + 1); }),
                HasSubstr("a target of 201 dB exceeds the maximum of 200"));
}

}  // namespace
}  // namespace npuscope
