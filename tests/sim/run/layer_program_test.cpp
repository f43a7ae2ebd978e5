// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "models/base/error.h"
#include "sim/compile/tinpu/layer_plan.h"
#include "sim/report/reports.h"
#include "tests/sim/compile/tinpu/layer_fixture.h"
#include "tests/sim/message_of.h"

namespace npuscope {
namespace {

using test::ModelBuilder;
using ::testing::HasSubstr;

/// Two branches, a residual from one to the other, a host operator between NPU layers.
ModelBuilder branched_model() {
    ModelBuilder builder;
    builder.input("x", {1, 4, 6, 6});
    builder.floats("low", {}, {-128}).floats("high", {}, {127}).floats("sixteen", {}, {16});
    builder.floats("pre_low", {}, {-512}).floats("pre_high", {}, {511});
    const auto conv = [&](const std::string& name, const std::string& from) {
        builder.floats(name + "_w", {4, 4, 1, 1}, test::some_numbers(16, -8, 7, 3));
        builder.node("Conv", name, {from, name + "_w"});
        builder.node("Div", name + "_d", {builder.last(), "sixteen"});
        builder.node("Floor", name + "_f", {builder.last()});
    };
    conv("a", "x");
    builder.node("Clip", "a_c", {"a_f_y", "low", "high"});
    conv("b", "a_c_y");
    builder.node("Clip", "b_p", {"b_f_y", "pre_low", "pre_high"});
    builder.node("Add", "join", {"b_p_y", "a_c_y"});
    builder.node("Clip", "b_c", {"join_y", "low", "high"});
    builder.node("Concat", "concat", {"a_c_y", "b_c_y"}).integer("axis", 1);
    builder.floats("c_w", {4, 8, 1, 1}, test::some_numbers(32, -8, 7, 3));
    builder.node("Conv", "c", {"concat_y", "c_w"});
    builder.node("Div", "c_d", {"c_y", "sixteen"}).node("Floor", "c_f", {"c_d_y"});
    builder.node("Clip", "c_c", {"c_f_y", "low", "high"}, "y");
    builder.output("y").output("b_c_y");
    return builder;
}

TEST(LayerProgram, BranchesResidualsAndHostOperatorsGiveTheHostsNumbers) {
    const Graph graph = test::graph_of(branched_model());
    const auto inputs = test::some_inputs(graph, ElementType::Int8, 1);
    const ModelResult mixed = test::run_on(graph, test::bundled_preset(), inputs);
    const ModelResult host = test::run_on(graph, test::host_only(), inputs);
    EXPECT_EQ(mixed.outputs, host.outputs);
    std::vector<std::string> patterns;
    for (const OperationRecord& operation : mixed.result.operations) {
        patterns.push_back(operation.kind);
    }
    EXPECT_EQ(patterns, (std::vector<std::string>{"PWCONV", "PWCONVRES", "Concat", "PWCONV"}));
    EXPECT_EQ(mixed.result.operations.back().end, mixed.result.cycles);
    EXPECT_EQ(mixed.result.simulated_cycles, mixed.result.cycles);
}

TEST(LayerProgram, TimeAloneIsTheSameTime) {
    const Graph graph = test::graph_of(branched_model());
    const LayerNpuConfig config = test::bundled_preset();
    const LayerPlan plan = plan_layers(graph, config);
    const ModelResult timed = test::run_plan(graph, plan, config, nullptr);
    const auto inputs = test::some_inputs(graph, ElementType::Int8, 1);
    const ModelResult whole = test::run_plan(graph, plan, config, &inputs);
    EXPECT_EQ(timed.result.cycles, whole.result.cycles);
    EXPECT_TRUE(timed.outputs.empty());
}

TEST(LayerProgram, InputsThatDoNotFitAreRefused) {
    const Graph graph = test::graph_of(test::max_pool_model(2, 2));
    const auto run = [&](GraphValue value) {
        return sample::message_of([&] {
            test::run_on(graph, test::bundled_preset(), {{"x", std::move(value)}});
        });
    };
    EXPECT_THAT(sample::message_of([&] { test::run_on(graph, test::bundled_preset(), {}); }),
                HasSubstr("no data for the input 'x'"));
    EXPECT_THAT(run(zeros({ElementType::Float32, {1, 4, 6, 5}})), HasSubstr("1x4x6x6"));
    GraphValue value = zeros({ElementType::Float32, {1, 4, 6, 6}});
    value.numbers[3] = 0.5;
    EXPECT_THAT(run(value), HasSubstr("not an integer"));
    value.numbers[3] = 256;
    EXPECT_THAT(run(value), HasSubstr("from 0 to 256"));
    value.numbers[3] = 200;
    value.numbers[4] = -1;
    EXPECT_THAT(run(value), HasSubstr("from -1 to 200"));
}

TEST(LayerProgram, ResultsNameOperationsAndTheHostsShare) {
    const Graph graph = test::graph_of(branched_model());
    const LayerNpuConfig config = test::bundled_preset();
    const Result result = test::run_plan(graph, plan_layers(graph, config), config, nullptr).result;
    const std::string json = json_report(result);
    for (const char* key : {"\"npu\": \"tinpu_f28p55\"", "\"pattern\": \"PWCONVRES\"",
                            "\"bound_by\"", "\"share\"", "\"macs\": 576"}) {
        EXPECT_THAT(json, HasSubstr(key));
    }
    EXPECT_THAT(summary_report(result), HasSubstr("PWCONVRES"));
}

}  // namespace
}  // namespace npuscope
