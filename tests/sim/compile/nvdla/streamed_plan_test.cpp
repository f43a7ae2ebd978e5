// SPDX-License-Identifier: Apache-2.0
// Streams of frames: each produces the bytes that one alone produces, the check finds nothing, and
// frames follow each other sooner than if each waited for the end of the previous one.
#include "sim/compile/nvdla/streamed_plan.h"

#include <gtest/gtest.h>

#include "sim/check/check_report.h"
#include "sim/command_line/plan_runs.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/run/session.h"
#include "tests/sim/compile/nvdla/checked_run.h"
#include "tests/sim/compile/nvdla/sample_networks.h"

namespace npuscope::streamed_plan_test {
namespace {

constexpr std::size_t frames = 5;

/// Bytes of every layer, as they are when it is done.
std::vector<std::vector<std::uint8_t>> bytes_of(const Plan& plan, const PlanTarget& target) {
    RunOptions options;
    for (const ExpectedResult& result : expected_results(plan)) {
        options.keep.push_back({{result.address, result.bytes}, result.sync});
    }
    const Program program = plan_program(plan);
    const CheckReport report = check_program(program, {target.npu, target.memory});
    EXPECT_TRUE(report.findings.empty()) << report.findings.front().sentence;
    const Result result = run_program(program, nvdla_system(target.npu, target.memory), options);
    EXPECT_TRUE(result.findings.empty()) << result.findings.front().sentence;
    return result.kept;
}

TEST(StreamedPlan, EveryFrameGivesTheBytesOfOneAlone) {
    for (const Network& network : {sample::mixed_network(), sample::oblong_network()}) {
        for (const char* npu : {"nv_small", "nv_full", "nv_large"}) {
            const testing::ScopedTrace trace(__FILE__, __LINE__, network.name + " on " + npu);
            const PlanTarget target = sample::preset_target(npu);
            const Plan plan = plan_network(network, target);
            const auto alone = bytes_of(plan, target);
            const auto stream = bytes_of(streamed_plan(plan, frames, target), target);
            ASSERT_EQ(stream.size(), frames * alone.size());
            for (std::size_t i = 0; i < stream.size(); ++i) {
                EXPECT_EQ(stream[i], alone[i % alone.size()]) << "result " << i;
            }
        }
    }
}

TEST(StreamedPlan, FramesFollowEachOtherSoonerThanOneEndsAfterTheOther) {
    PlanTarget target = sample::preset_target("nv_small");
    target.images = false;
    const SystemConfig system = nvdla_system(target.npu, target.memory);
    const Plan plan = plan_network(sample::mixed_network(), target);
    const Result alone = run_program(plan_program(plan), system, {.values = false});
    const StreamRecord stream =
        simulate_stream(plan, frames, target, system, RunOptions{}.max_cycles);
    EXPECT_TRUE(stream.simulated);
    EXPECT_LT(stream.interval, alone.cycles);
    EXPECT_GT(stream.interval.value, alone.cycles.value / 2);
    EXPECT_LE(stream.interval, stream.latency);
    EXPECT_LE(stream.latency, stream.most_latency);
    EXPECT_GE(stream.all.value, frames * stream.interval.value);
}

TEST(StreamedPlan, TwoPlacesForMapsNeedRoom) {
    PlanTarget target = sample::preset_target("nv_small");
    const Plan plan = plan_network(sample::mixed_network(), target);
    target.memory.regions.front().size = plan.memory + Bytes(16);
    EXPECT_THROW(streamed_plan(plan, 2, target), ConfigError);
}

}  // namespace
}  // namespace npuscope::streamed_plan_test
