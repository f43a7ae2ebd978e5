// SPDX-License-Identifier: Apache-2.0
// Planned networks on the simulated machine: whatever the buffer forces the planner to do, the
// result must be the same bytes, those of a reference computation.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "models/base/error.h"
#include "sim/check/check_report.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/config/preset.h"
#include "sim/model/network.h"
#include "sim/run/session.h"
#include "tests/sim/compile/nvdla/checked_run.h"
#include "tests/sim/compile/nvdla/random_network.h"
#include "tests/sim/compile/nvdla/reference_network.h"
#include "tests/sim/compile/nvdla/sample_networks.h"

namespace npuscope {
namespace {

using sample::can_plan;
using sample::preset_targets;
using sample::run_checked;

TEST(PlannedNetwork, GivesThePlainComputationsBytes) { run_checked(sample::mixed_network(), {}); }

TEST(PlannedNetwork, GivesTheSameBytesHoweverSmallTheTiles) {
    const Result whole = run_checked(sample::mixed_network(), {});
    const Result tiled = run_checked(sample::mixed_network(), sample::target_with_bank_depth(28));
    EXPECT_GT(tiled.operations.size(), whole.operations.size() + 10);
    ASSERT_EQ(tiled.checks.size(), whole.checks.size());
    for (std::size_t i = 0; i < whole.checks.size(); ++i) {
        EXPECT_EQ(tiled.checks[i].actual, whole.checks[i].actual)
            << to_string(whole.checks[i].place);
    }
}

TEST(PlannedNetwork, GivesTheSameBytesWhereAtomsStayPartlyEmpty) {
    const Network network = parse_network(
        "name: fat\n"
        "input: {channels: 40, height: 6, width: 6}\n"
        "layers:\n"
        "  - {name: first, kind: fc, kernels: 21, relu: true}\n"
        "  - {name: second, kind: fc, kernels: 30}\n"
        "  - {name: twice, kind: add, from: [second, second]}\n",
        "fat.yaml");
    const PlanTarget target = sample::target_with_bank_depth(24);
    ASSERT_LT(plan_network(network, target).layers[0].stored.lanes, 8U);
    run_checked(network, target);
}

TEST(PlannedNetwork, PoolsOnTheWayToMemoryHoweverSmallTheTiles) {
    const Network network = sample::oblong_network();
    for (const std::uint32_t depth : {512U, 12U}) {
        const PlanTarget target = sample::target_with_bank_depth(depth);
        const Plan plan = plan_network(network, target);
        ASSERT_EQ(plan.layers.front().name, "rows");
        EXPECT_EQ(plan.operations.front().last_unit(), InterruptSource::Pdp);
        EXPECT_GE(plan.layers.front().operations, depth < 100 ? 3U : 1U);
        run_checked(network, target);
    }
}

TEST(PlannedNetwork, ComputesLayersWithoutWeightsOnEveryPreset) {
    const Network network = parse_network(
        "name: gates\n"
        "input: {channels: 32, height: 9, width: 7}\n"
        "layers:\n"
        "  - {name: conv, kind: conv, kernels: 64, kernel: 3, padding: 1}\n"
        "  - {name: act, kind: lookup}\n"
        "  - {name: squeeze, kind: fc, kernels: 64, from: [act]}\n"
        "  - {name: gate, kind: lookup}\n"
        "  - {name: excite, kind: mul, from: [act, gate]}\n"
        "  - {name: square, kind: mul, from: [conv, excite]}\n"
        "  - {name: all, kind: concat, from: [input, square, act]}\n"
        "  - {name: part, kind: slice, output: 96x5x4}\n"
        "  - {name: last, kind: conv, kernels: 20, from: [part]}\n"
        "  - {name: rest, kind: conv, kernels: 8, from: [all]}\n",
        "gates.yaml");
    for (const PlanTarget& target : preset_targets()) {
        SCOPED_TRACE(target.npu.name);
        const Result result = run_checked(network, target);
        EXPECT_EQ(result.checks.size(), 10U);
    }
}

TEST(PlannedNetwork, RefusesToJoinMapsThatDoNotFillTheirAtoms) {
    const Network network = parse_network(
        "name: odd\n"
        "input: {channels: 12, height: 4, width: 4}\n"
        "layers:\n"
        "  - {name: conv, kind: conv, kernels: 12}\n"
        "  - {name: both, kind: concat, from: [input, conv]}\n",
        "odd.yaml");
    try {
        plan_network(network, {});
        FAIL() << "planned";
    } catch (const ConfigError& error) {
        EXPECT_NE(std::string(error.what()).find("do not fill atoms of 8"), std::string::npos);
    }
}

TEST(PlannedNetwork, AddsAloneWhereTheSecondStageIsMissing) {
    PlanTarget target;
    target.npu.sdp.bn = false;
    run_checked(sample::mixed_network(), target);
}

TEST(PlannedNetwork, MadeUpValuesNeitherSaturateNorVanish) {
    const Network network = sample::mixed_network();
    const auto results = reference::run_network(network, plan_network(network, {}));
    for (const auto& [name, tensor] : results) {
        SCOPED_TRACE(name);
        const std::set<std::int8_t> values(tensor.values.begin(), tensor.values.end());
        EXPECT_GE(values.size(), std::min<std::size_t>(tensor.values.size() / 2, 8)) << name;
        const auto saturated = std::ranges::count(tensor.values, std::int8_t{127});
        EXPECT_LT(saturated, static_cast<std::ptrdiff_t>(tensor.values.size() / 4 + 1)) << name;
    }
}

TEST(PlannedNetwork, TakesTheSameTimeWithoutValues) {
    PlanTarget target;
    const SystemConfig system = nvdla_system(target.npu, target.memory);
    const Program with = plan_program(plan_network(sample::mixed_network(), target));
    target.images = false;
    const Program without = plan_program(plan_network(sample::mixed_network(), target));
    RunOptions options;
    const Result valued = run_program(with, system, options);
    options.values = false;
    EXPECT_EQ(run_program(without, system, options).cycles, valued.cycles);
}

TEST(PlannedNetwork, LeNetGivesThePlainBytesOnEveryPreset) {
    const Network network = read_network(configs_folder() / "workload/lenet.yaml");
    for (const PlanTarget& target : preset_targets()) {
        SCOPED_TRACE(target.npu.name);
        run_checked(network, target);
    }
}

TEST(PlannedNetwork, GivesThePlainBytesOnEveryPresetAlsoWhenPruned) {
    for (Network network : {sample::mixed_network(), sample::oblong_network()}) {
        for (const std::uint32_t zeros : {0U, 80U}) {
            network.zeros = zeros;
            for (const PlanTarget& target : preset_targets()) {
                SCOPED_TRACE(network.name + " on " + target.npu.name);
                run_checked(network, target);
            }
        }
    }
}

/// Random networks of a few layers, whatever a planner can be asked.
TEST(PlannedNetwork, RandomNetworksGiveThePlainBytesOnEveryPreset) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        const Network network = sample::random_network(seed);
        for (PlanTarget target : preset_targets()) {
            SCOPED_TRACE(network.name + " on " + target.npu.name);
            const std::uint32_t depth = target.npu.cbuf.bank_depth;
            target.npu.cbuf.bank_depth = depth / (seed % 3 == 0 ? 8 : 1);
            if (!can_plan(network, target)) {  // nothing of a layer fits so small a buffer
                target.npu.cbuf.bank_depth = depth;
            }
            run_checked(network, target);
        }
    }
}

// source: nv_full RTL, simulated: weights of another split of the buffer wait until the previous
// operation has passed the sequencer, where those of the same split do not
TEST(PlannedNetwork, TakesTheTimeOfTheRtlWhereCompressedWeightsSplitTheBufferAnew) {
    const Network network = parse_network(R"(
name: split
seed: 3
input: {channels: 8, height: 32, width: 32}
layers:
  - {name: conv0, kind: conv, kernel: 1, kernels: 8}
  - {name: conv1, kind: conv, kernel: 3, padding: 1, kernels: 8, zeros: 80}
  - {name: conv2, kind: conv, kernel: 1, kernels: 16}
)",
                                          "split.yaml");
    PlanTarget target = sample::preset_target("nv_full");
    const Program program = plan_program(plan_network(network, target));
    for (const auto& [latency, cycles] : {std::pair{50, 14'266}, std::pair{200, 15'466}}) {
        target.memory.read_latency = Cycles(static_cast<std::uint64_t>(latency));
        const Result result = run_program(program, nvdla_system(target.npu, target.memory), {});
        EXPECT_EQ(result.cycles, Cycles(static_cast<std::uint64_t>(cycles)));
    }
}

TEST(PlannedNetwork, TheCheckFindsNothingInPlans) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        Network network = sample::random_network(seed);
        for (const PlanTarget& target : preset_targets()) {
            SCOPED_TRACE(network.name + " on " + target.npu.name);
            const CheckReport report = check_program(plan_program(plan_network(network, target)),
                                                     {target.npu, target.memory});
            for (const Diagnostic& found : report.findings) {
                ADD_FAILURE() << found.sentence;
            }
        }
    }
}

TEST(PlannedNetwork, LinesThatNoWindowReachesMayBeLeftInAPlaneOfPixels) {
    for (const char* sizes : {"height: 16, width: 18", "height: 28, width: 34"}) {
        const Network network = parse_network(fmt::format(R"(
name: lines_left
input: {{channels: 3, {}, layout: T_Y8___V8U8_N444}}
layers:
  - {{name: conv, kind: conv, kernels: 6, kernel: 1, stride: 3, relu: true}}
)",
                                                          sizes),
                                              "lines_left.yaml");
        for (const char* preset : {"nv_small", "nv_medium_512", "nv_full"}) {
            const PlanTarget target = sample::preset_target(preset);
            const Program program = plan_program(plan_network(network, target));
            for (const Diagnostic& found :
                 check_program(program, {target.npu, target.memory}).findings) {
                ADD_FAILURE() << preset << ": " << found.sentence;
            }
        }
    }
}

}  // namespace
}  // namespace npuscope
