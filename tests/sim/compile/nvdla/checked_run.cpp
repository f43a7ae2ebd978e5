// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/compile/nvdla/checked_run.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "models/base/error.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/config/preset.h"
#include "sim/run/session.h"
#include "tests/sim/compile/nvdla/reference_network.h"

namespace npuscope::sample {
namespace {

std::uint32_t crc_of(const std::vector<std::uint8_t>& bytes) {
    return static_cast<std::uint32_t>(
        crc32(crc32(0, nullptr, 0), bytes.data(), static_cast<uInt>(bytes.size())));
}

/// The program of a plan, with a check of every layer's result after its last operation.
Program checked_program(const Plan& plan, const reference::Results& results) {
    const std::vector<ExpectedResult> expected = expected_results(plan);
    std::vector<std::uint32_t> crcs;
    for (std::size_t i = 0; i < plan.layers.size(); ++i) {
        const PlannedLayer& layer = plan.layers[i];
        const auto bytes = reference::bytes_of(results.at(layer.name), layer.stored);
        EXPECT_EQ(expected[i].bytes, Bytes(bytes.size())) << layer.name;
        crcs.push_back(crc_of(bytes));
    }
    Program program = plan_program(plan);
    add_expectations(program, expected, crcs);
    return program;
}

}  // namespace

Result run_checked(const Network& network, const PlanTarget& target) {
    const Plan plan = plan_network(network, target);
    const reference::Results results = reference::run_network(network, plan);
    const Result result =
        run_program(checked_program(plan, results), nvdla_system(target.npu, target.memory), {});
    EXPECT_EQ(result.checks.size(), plan.layers.size());
    for (const CheckResult& check : result.checks) {
        EXPECT_TRUE(check.pass) << to_string(check.place);
    }
    for (const Diagnostic& finding : result.findings) {
        ADD_FAILURE() << finding.sentence;
    }
    return result;
}

bool can_plan(const Network& network, const PlanTarget& target) {
    return std::holds_alternative<Plan>(try_plan_network(network, target));
}

PlanTarget preset_target(const std::string& name) {
    PlanTarget target;
    target.npu = read_preset<NpuConfig>(find_preset(configs_folder(), "npu", name));
    return target;
}

std::vector<PlanTarget> preset_targets() {
    std::vector<PlanTarget> targets;
    for (const std::string& name : list_presets(configs_folder(), "npu")) {
        if (!name.starts_with("tinpu")) {
            targets.push_back(preset_target(name));
        }
    }
    return targets;
}

}  // namespace npuscope::sample
