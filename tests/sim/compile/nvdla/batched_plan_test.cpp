// SPDX-License-Identifier: Apache-2.0
// Plans for several inputs at once: each produces the bytes that it produces alone, the check finds
// nothing, and operations on several of them save weight traffic.
#include "sim/compile/nvdla/batched_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/check/check_report.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/run/session.h"
#include "tests/sim/compile/nvdla/checked_run.h"
#include "tests/sim/compile/nvdla/sample_networks.h"

namespace npuscope::batched_plan_test {
namespace {

/// Large matrices after small maps, as classifiers end.
Network classifier() {
    return parse_network(R"(
name: classifier
seed: 11
input: {channels: 4, height: 14, width: 14}
layers:
  - {name: first, kind: conv, kernels: 24, kernel: 3, padding: 1, relu: true}
  - {name: pooled, kind: max_pool, kernel: 2, stride: 2}
  - {name: second, kind: conv, kernels: 40, kernel: 3, stride: 2, relu: true}
  - {name: wide, kind: fc, kernels: 500, relu: true}
  - {name: last, kind: fc, kernels: 10}
)",
                         "classifier.yaml");
}

/// The image of the network's input as the host stores that of one of several inputs.
void change(PlannedImage& image, std::size_t input) {
    for (std::size_t i = 0; input > 0 && i < image.image.bytes.size(); ++i) {
        image.image.bytes[i] = static_cast<std::uint8_t>(image.image.bytes[i] * (2 * input + 1));
    }
}

PlannedImage& image_of(Plan& plan, const std::string& name) {
    return *std::ranges::find(plan.images, name, &PlannedImage::name);
}

Result run_without_findings(const Plan& plan, const PlanTarget& target, const RunOptions& options) {
    const Program program = plan_program(plan);
    const CheckReport report = check_program(program, {target.npu, target.memory});
    EXPECT_TRUE(report.findings.empty()) << report.findings.front().sentence;
    Result result = run_program(program, nvdla_system(target.npu, target.memory), options);
    EXPECT_TRUE(result.findings.empty()) << result.findings.front().sentence;
    return result;
}

/// Bytes of every layer when it is done, of all inputs.
std::vector<std::vector<std::uint8_t>> bytes_of(const Plan& plan, const PlanTarget& target,
                                                std::size_t inputs, Bytes distance) {
    RunOptions options;
    for (std::size_t input = 0; input < inputs; ++input) {
        for (const ExpectedResult& result : expected_results(plan)) {
            options.keep.push_back(
                {{result.address + distance * input, result.bytes}, result.sync});
        }
    }
    return run_without_findings(plan, target, options).kept;
}

void expect_bytes_of_each_alone(const Network& network, const std::string& npu,
                                std::uint32_t inputs) {
    const testing::ScopedTrace trace(__FILE__, __LINE__, network.name + " on " + npu);
    const PlanTarget target = sample::preset_target(npu);
    const Plan plan = plan_network(network, target);
    BatchedPlan batched = *batched_plan(plan, inputs, target);
    for (std::uint32_t input = 1; input < inputs; ++input) {
        change(image_of(batched.plan, "input_" + std::to_string(input + 1)), input);
    }
    const auto all = bytes_of(batched.plan, target, inputs, batched.distance);
    for (std::uint32_t input = 0; input < inputs; ++input) {
        Plan single = plan;
        change(image_of(single, "input"), input);
        const auto alone = bytes_of(single, target, 1, Bytes(0));
        for (std::size_t i = 0; i < alone.size(); ++i) {
            EXPECT_EQ(all.at(input * alone.size() + i), alone[i])
                << "layer " << plan.layers[i].name << " of input " << input;
        }
    }
}

TEST(BatchedPlan, EveryInputGivesTheBytesThatItGivesAlone) {
    for (const char* npu : {"nv_small", "nv_full"}) {
        expect_bytes_of_each_alone(classifier(), npu, 5);
        expect_bytes_of_each_alone(sample::mixed_network(), npu, 3);
        expect_bytes_of_each_alone(sample::oblong_network(), npu, 2);
    }
}

TEST(BatchedPlan, MatricesAreFetchedOnceForAllInputs) {
    PlanTarget target = sample::preset_target("nv_full");
    const Plan plan = plan_network(classifier(), target);
    constexpr std::uint32_t inputs = 8;
    const BatchedPlan batched = *batched_plan(plan, inputs, target);
    EXPECT_GE(batched.shared_layers, 2U);
    const auto& wide = batched.plan.layers.at(2);  // the pool is fused to the first
    EXPECT_EQ(wide.name, "wide");
    EXPECT_EQ(wide.operations, 1U);
    const Operation& operation = batched.plan.operations.at(wide.first_operation);
    EXPECT_EQ(std::get<ConvOperation>(operation.job).conv.csc.batches, inputs);
    EXPECT_EQ(operation.name, "wide of inputs 1..8");
    const Result alone = run_without_findings(plan, target, {});
    const Result together = run_without_findings(batched.plan, target, {});
    EXPECT_LT(together.cycles.value, inputs * alone.cycles.value);
    EXPECT_LT(together.total_traffic().read_bytes.value,
              inputs * alone.total_traffic().read_bytes.value / 2);
}

TEST(BatchedPlan, WithoutTheModeInputsFollowEachOther) {
    const PlanTarget target = sample::preset_target("nv_small");
    EXPECT_EQ(most_batches(target.npu), 1U);
    const Plan plan = plan_network(classifier(), target);
    const BatchedPlan batched = *batched_plan(plan, 3, target);
    EXPECT_EQ(batched.shared_layers, 0U);
    EXPECT_EQ(batched.plan.operations.size(), 3 * plan.operations.size());
}

TEST(BatchedPlan, EveryInputNeedsRoom) {
    PlanTarget target = sample::preset_target("nv_full");
    const Plan plan = plan_network(classifier(), target);
    target.memory.regions.front().size = plan.memory + Bytes(16);
    EXPECT_FALSE(batched_plan(plan, 2, target).has_value());
}

}  // namespace
}  // namespace npuscope::batched_plan_test
