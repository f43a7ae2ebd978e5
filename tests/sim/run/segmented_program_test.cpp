// SPDX-License-Identifier: Apache-2.0
// Models shared by a register NPU and the host: whatever the partition, the values are those of the
// host's reference operators.
#include "sim/compile/nvdla/segmented_program.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <set>

#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/report/reports.h"
#include "tests/sim/compile/tinpu/layer_fixture.h"
#include "tests/sim/message_of.h"
#include "tests/sim/run/random_graph.h"

namespace npuscope::segmented_program_test {
namespace {

using test::ModelBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

SystemConfig system_of(const std::string& npu) {
    SystemConfig system = nvdla_system();
    nvdla_npu(system) = read_preset<NpuConfig>(find_preset(configs_folder(), "npu", npu));
    return system;
}

/// On the preset and on the host only.
Result expect_equal(const ModelBuilder& builder, const std::string& npu,
                    ElementType element = ElementType::Int8) {
    const Graph graph = test::graph_of(builder);
    const SystemConfig system = system_of(npu);
    const auto inputs = test::some_inputs(graph, element, 5);
    ValueRanges given;
    for (const std::string& name : graph.inputs) {
        given[name] = {true, range_of(element), false};
    }
    const ModelResult host = test::run_on(graph, test::host_only(), inputs);
    SegmentedPlan plan = plan_segments(graph, {nvdla_npu(system), system.memory}, given);
    ModelResult run =
        run_model(segmented_program(graph, std::move(plan), system.host, &inputs), system, {});
    EXPECT_EQ(run.result.status(), RunStatus::Unchecked);
    EXPECT_EQ(run.outputs.size(), host.outputs.size());
    for (const auto& [name, value] : host.outputs) {
        EXPECT_EQ(run.outputs.at(name).type.sizes, value.type.sizes) << name;
        EXPECT_EQ(run.outputs.at(name).numbers, value.numbers) << name;
    }
    return std::move(run.result);
}

std::vector<std::string> units_of(const Result& result) {
    std::vector<std::string> units;
    for (const OperationRecord& operation : result.operations) {
        if (units.empty() || units.back() != operation.unit) {
            units.push_back(operation.unit);
        }
    }
    return units;
}

class Model {
 public:
    ModelBuilder builder;

    Model() {
        builder.floats("low", {}, {-128}).floats("high", {}, {127}).floats("shift", {}, {512});
    }
    Model& input(const std::string& name, std::int64_t channels) {
        builder.input(name, {1, channels, 6, 5});
        return *this;
    }
    /// Conv 1x1, Div, Floor, Clip; returns its output.
    std::string conv(const std::string& name, const std::string& from, std::int64_t channels,
                     std::int64_t kernels, std::int64_t stride = 1) {
        builder.floats(
            name + "_w", {kernels, channels, 1, 1},
            test::some_numbers(static_cast<std::size_t>(kernels * channels), -127, 127, ++seed_));
        builder.node("Conv", name, {from, name + "_w"}).ints("strides", {stride, 1});
        builder.node("Div", name + "_d", {builder.last(), "shift"});
        builder.node("Floor", name + "_f", {builder.last()});
        return clip(name + "_c");
    }
    std::string clip(const std::string& name) {
        builder.node("Clip", name, {builder.last(), "low", "high"});
        return builder.last();
    }
    std::string node(const std::string& op, const std::string& name,
                     const std::vector<std::string>& from) {
        builder.node(op, name, from);
        return builder.last();
    }

 private:
    unsigned seed_ = 0;
};

TEST(SegmentedSession, RandomModelsGiveTheHostsNumbers) {
    std::size_t most_segments = 0;
    std::size_t most_inputs = 0;
    std::size_t most_outputs = 0;
    std::size_t without_host = 0;
    for (unsigned seed = 1; seed <= 120; ++seed) {
        const ::testing::ScopedTrace trace(__FILE__, __LINE__, std::to_string(seed));
        const Result result =
            expect_equal(test::random_graph(seed), seed % 3 == 0 ? "nv_full" : "nv_small");
        most_segments = std::max(most_segments, result.model->segments.size());
        without_host += result.model->host.operators == 0 ? 1U : 0U;
        for (const SegmentRecord& segment : result.model->segments) {
            most_inputs = std::max(most_inputs, segment.inputs.size());
            most_outputs = std::max(most_outputs, segment.outputs.size());
        }
    }
    EXPECT_GE(most_segments, 3U);
    EXPECT_GE(most_inputs, 2U);
    EXPECT_GE(most_outputs, 3U);
    EXPECT_GE(without_host, 10U);
}

TEST(SegmentedSession, HostsStandBeforeBetweenAndBehind) {
    Model model;
    model.input("x", 4);
    model.node("Concat", "first", {"x", "x"});
    model.builder.integer("axis", 1);
    const std::string a = model.conv("a", "first_y", 8, 8);
    model.node("Transpose", "turn", {a});
    model.builder.ints("perm", {0, 1, 3, 2});
    model.conv("b", "turn_y", 8, 12);
    model.node("Sigmoid", "end", {model.builder.last()});
    model.builder.output(model.builder.last());
    const Result result = expect_equal(model.builder, "nv_small");
    EXPECT_THAT(units_of(result), ElementsAre("host", "conv", "host", "conv", "host"));
    ASSERT_EQ(result.model->segments.size(), 2U);
    EXPECT_THAT(result.model->segments[1].inputs, ElementsAre("turn_y"));
    EXPECT_EQ(result.model->host.operators, 3U);
}

TEST(SegmentedSession, BranchesAroundTheHostDoNotWaitForEachOther) {
    Model model;
    model.input("x", 8);
    const std::string a = model.conv("a", "x", 8, 8);
    model.node("Transpose", "turn", {a});
    model.builder.ints("perm", {0, 1, 2, 3});
    const std::string b = model.conv("b", a, 8, 8);  // in parallel with the host's part
    const std::string c = model.conv("c", "turn_y", 8, 8);
    model.node("Add", "join", {b, c});
    model.clip("join_c");
    model.builder.output(model.builder.last()).output(a);
    const Result result = expect_equal(model.builder, "nv_small");
    ASSERT_EQ(result.model->segments.size(), 2U);
    EXPECT_THAT(result.model->segments[0].outputs, ElementsAre(a, b));
    EXPECT_THAT(result.model->segments[1].inputs, ElementsAre("turn_y", b));
}

TEST(SegmentedSession, InputsMayBeResidualsAndOutputsMayBeSeveral) {
    for (const char* npu : {"nv_small", "nv_full"}) {
        Model model;
        model.input("x", 8).input("r", 8);
        const std::string a = model.conv("a", "x", 8, 8);
        model.node("Add", "join", {a, "r"});
        const std::string sum = model.clip("join_c");
        model.conv("b", sum, 8, 3);
        model.builder.output(model.builder.last()).output(sum);
        const Result result = expect_equal(model.builder, npu);
        EXPECT_EQ(result.model->host.operators, 0U);
        ASSERT_EQ(result.model->segments.size(), 1U);
        EXPECT_THAT(result.model->segments[0].inputs, ElementsAre("x", "r"));
    }
}

TEST(SegmentedSession, OtherShapesOfTheSameNumbersGoThroughTheHost) {
    Model model;
    model.input("x", 8);
    const std::string a = model.conv("a", "x", 8, 6);
    model.builder.int64s("shape", {1, 5, 6, 6});
    model.node("Reshape", "reshape", {a, "shape"});
    model.conv("b", "reshape_y", 5, 4);
    model.builder.output(model.builder.last());
    const Result result = expect_equal(model.builder, "nv_small");
    EXPECT_EQ(result.model->segments.size(), 2U);
    EXPECT_EQ(result.model->host.operators, 0U);
}

TEST(SegmentedSession, NothingOnTheNpuIsANote) {
    Model model;
    model.input("x", 4);
    model.node("Sigmoid", "s", {"x"});
    model.builder.output(model.node("Softmax", "soft", {model.builder.last()}));
    const Result result = expect_equal(model.builder, "nv_small");
    EXPECT_TRUE(result.model->segments.empty());
    EXPECT_EQ(result.cycles, result.model->host.cycles);
    ASSERT_EQ(result.findings.size(), 1U);
    EXPECT_THAT(result.findings[0].sentence, HasSubstr("all of it runs on the host"));
}

TEST(SegmentedSession, LayersThatCannotBePlannedAreLeftToTheHost) {
    Model model;
    model.input("x", 8);
    model.conv("a", "x", 8, 8);
    model.conv("far", model.builder.last(), 8, 8, 9);  // strides go to 8
    model.conv("b", model.builder.last(), 8, 8);
    model.builder.output(model.builder.last());
    const Result result = expect_equal(model.builder, "nv_small");
    EXPECT_EQ(result.model->segments.size(), 2U);
    ASSERT_EQ(result.model->refused.size(), 1U);
    EXPECT_EQ(result.model->refused[0].layer, "far");
    EXPECT_THAT(result.model->refused[0].problems[0].sentence, HasSubstr("stride 8"));
}

TEST(SegmentedSession, UnusedLayersAreLeftOut) {
    Model model;
    model.input("x", 8);
    const std::string a = model.conv("a", "x", 8, 8);
    model.conv("nobody", a, 8, 8);
    model.node("Sigmoid", "lost", {a});
    model.builder.output(a);
    const Result result = expect_equal(model.builder, "nv_small");
    EXPECT_EQ(result.operations.size(), 1U);
}

TEST(SegmentedSession, TimesFollowEachOtherAndAddUp) {
    const Graph graph = test::graph_of(test::random_graph(7));
    const SystemConfig system = system_of("nv_small");
    RunOptions options;
    options.timeline = true;
    SegmentedPlan plan = plan_segments(graph, {nvdla_npu(system), system.memory});
    const Result result =
        run_model(segmented_program(graph, std::move(plan), system.host, nullptr), system, options)
            .result;
    Cycles end{0};
    Cycles sum = result.model->host.cycles;
    for (const SegmentRecord& segment : result.model->segments) {
        EXPECT_GE(segment.start, end);
        end = segment.start + segment.cycles;
        sum += segment.cycles;
    }
    EXPECT_EQ(result.cycles, sum);
    EXPECT_LE(result.cycles, result.simulated_cycles);
    for (const OperationRecord& operation : result.operations) {
        EXPECT_LE(operation.end, result.simulated_cycles);
    }
    const std::string json = json_report(result);
    for (const char* key : {"\"host\"", "\"share\"", "\"segments\"", "\"refused\""}) {
        EXPECT_THAT(json, HasSubstr(key));
    }
    EXPECT_THAT(timeline_report(result), HasSubstr("\"host\""));
}

TEST(SegmentedSession, TimeAloneIsTheSameTime) {
    for (const unsigned seed : {3U, 7U, 21U}) {
        const Graph graph = test::graph_of(test::random_graph(seed));
        const SystemConfig system = system_of("nv_small");
        const auto inputs = test::some_inputs(graph, ElementType::Int8, 1);
        const auto cycles = [&](bool values, const GraphInputs* given) {
            RunOptions options;
            options.values = values;
            SegmentedPlan plan = plan_segments(graph, {nvdla_npu(system), system.memory, values});
            return run_model(segmented_program(graph, std::move(plan), system.host, given), system,
                             options)
                .result.cycles;
        };
        EXPECT_EQ(cycles(false, nullptr), cycles(true, &inputs));
        EXPECT_EQ(cycles(true, nullptr), cycles(true, &inputs));
    }
}

TEST(SegmentedSession, WhatNobodyRunsIsAnErrorWithTheNode) {
    Model model;
    model.input("x", 4);
    model.node("Sigmoid", "odd", {"x"});
    model.builder.graph().mutable_node(0)->set_op_type("Bernoulli");
    auto& stated = *model.builder.graph().add_value_info();
    stated.set_name(model.builder.last());
    stated.mutable_type()->mutable_tensor_type()->set_elem_type(1);
    for (const int size : {1, 4, 6, 5}) {
        stated.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(
            size);
    }
    model.builder.output(model.builder.last());
    const Graph graph = test::graph_of(model.builder);
    const SystemConfig system = system_of("nv_small");
    EXPECT_THAT(sample::message_of([&] {
                    plan_segments(graph, {nvdla_npu(system), system.memory});
                }),
                HasSubstr("node 'odd' (Bernoulli): the host does not implement this operator"));
}

}  // namespace
}  // namespace npuscope::segmented_program_test
