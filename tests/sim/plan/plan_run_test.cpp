// SPDX-License-Identifier: Apache-2.0
// Planned networks on the simulated machine: whatever the buffer forces the planner to do, the same
// bytes must come out, those of a plain computation.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <set>

#include "sim/config/preset.h"
#include "sim/plan/expectations.h"
#include "sim/plan/plan_program.h"
#include "sim/run/session.h"
#include "tests/sim/plan/reference_network.h"
#include "tests/sim/plan/sample_networks.h"

namespace npuscope {
namespace {

std::uint32_t crc_of(const std::vector<std::uint8_t>& bytes) {
    return static_cast<std::uint32_t>(
        crc32(crc32(0, nullptr, 0), bytes.data(), static_cast<uInt>(bytes.size())));
}

/// The program of a plan, with a check of every layer's result behind its last operation.
Program checked_program(const Plan& plan, const reference::Results& results) {
    Program program = plan_program(plan);
    for (const PlannedLayer& layer : plan.layers) {
        const auto bytes = reference::bytes_of(results.at(layer.name), layer.stored);
        const std::size_t last = layer.first_operation + layer.operations - 1;
        insert_behind(program, sync_name(last),
                      {Place{layer.name, 0, 0},
                       CheckCrc{sync_name(last), MemoryPort::Primary, layer.stored.cube.base,
                                Bytes(bytes.size()), crc_of(bytes)}});
    }
    return program;
}

Result run_checked(const Network& network, const PlanTarget& target) {
    const Plan plan = plan_network(network, target);
    const reference::Results results = reference::run_network(network, plan);
    const Result result =
        run_program(checked_program(plan, results), {target.npu, target.memory}, {});
    EXPECT_EQ(result.checks.size(), plan.layers.size());
    for (const CheckResult& check : result.checks) {
        EXPECT_TRUE(check.pass) << to_string(check.place);
    }
    for (const Finding& finding : result.findings) {
        ADD_FAILURE() << finding.message;
    }
    return result;
}

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
        EXPECT_TRUE(plan.operations.front().ends_in_pdp());
        EXPECT_GE(plan.layers.front().operations, depth < 100 ? 3U : 1U);
        run_checked(network, target);
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
        const std::set<std::int8_t> values(tensor.values.begin(), tensor.values.end());
        EXPECT_GE(values.size(), std::min<std::size_t>(tensor.values.size() / 2, 8)) << name;
        const auto saturated = std::ranges::count(tensor.values, std::int8_t{127});
        EXPECT_LT(saturated, static_cast<std::ptrdiff_t>(tensor.values.size() / 4 + 1)) << name;
    }
}

TEST(PlannedNetwork, TakesTheSameTimeWithoutValues) {
    PlanTarget target;
    const SystemConfig system{target.npu, target.memory};
    const Program with = plan_program(plan_network(sample::mixed_network(), target));
    target.images = false;
    const Program without = plan_program(plan_network(sample::mixed_network(), target));
    RunOptions options;
    const Result valued = run_program(with, system, options);
    options.values = false;
    EXPECT_EQ(run_program(without, system, options).cycles, valued.cycles);
}

TEST(PlannedNetwork, LeNetRunsOnEveryPreset) {
    const auto folder = configs_folder();
    const Network network = read_network(folder / "workload/lenet.yaml");
    for (const std::string& name : list_presets(folder, "npu")) {
        if (name.starts_with("tinpu")) {
            continue;  // layer patterns, no registers
        }
        PlanTarget target;
        target.npu = read_preset<NpuConfig>(find_preset(folder, "npu", name));
        const Result result = run_program(plan_program(plan_network(network, target)),
                                          {target.npu, target.memory}, {});
        EXPECT_EQ(result.status(), RunStatus::Pass) << name;
        EXPECT_TRUE(result.findings.empty()) << name;
    }
}

}  // namespace
}  // namespace npuscope
