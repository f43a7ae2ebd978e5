// SPDX-License-Identifier: Apache-2.0
// Plans as loadables: read again, they compute what the plan's own program computes.
#include "sim/loadable/plan_loadable.h"

#include <gtest/gtest.h>

#include <random>

#include "sim/check/check_report.h"
#include "sim/command_line/command.h"
#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/loadable/loadable_program.h"
#include "sim/run/session.h"
#include "tests/support/families.h"

namespace npuscope {
namespace {

constexpr const char* network_text = R"(name: sample
input: {channels: 16, height: 12, width: 10}
layers:
  - {name: first, kind: conv, kernels: 24, kernel: 3, padding: 1, relu: true}
  - {name: pool, kind: max_pool, kernel: 2, stride: 2}
  - {name: second, kind: conv, kernels: 16, kernel: 1}
  - {name: third, kind: conv, kernels: 16, kernel: 3, padding: 1}
  - {name: sum, kind: add, from: [second, third]}
)";

/// With lookups of one table and of maps that are joined, for NPUs whose SDP has tables.
constexpr const char* lookup_text = R"(name: sample
input: {channels: 32, height: 12, width: 10}
layers:
  - {name: first, kind: conv, kernels: 32, kernel: 3, padding: 1}
  - {name: act, kind: lookup}
  - {name: second, kind: conv, kernels: 32, kernel: 3, padding: 1}
  - {name: again, kind: lookup}
  - {name: both, kind: concat, from: [act, again]}
  - {name: sum, kind: conv, kernels: 24}
)";

/// The result of `other` replaces that of `pool`, which `wide` reads: both convolutions may be
/// programmed at once, and run in order.
constexpr const char* reuse_text = R"(name: sample
input: {channels: 16, height: 12, width: 10}
layers:
  - {name: pool, kind: max_pool, kernel: 2, stride: 2}
  - {name: wide, kind: conv, kernels: 40}
  - {name: other, kind: conv, kernels: 16, kernel: 2, stride: 2, from: [input]}
  - {name: narrow, kind: conv, kernels: 16, from: [wide]}
  - {name: sum, kind: add, from: [narrow, other]}
)";

SystemConfig system_of(const std::string& npu) {
    SystemArguments arguments;
    arguments.families = test::families();
    arguments.npu = npu;
    return read_system(arguments);
}

void expect_same(const std::string& npu, const char* text) {
    const SystemConfig system = system_of(npu);
    const Network network = parse_network(text, "sample.yaml");
    const Plan plan = plan_network(network, {nvdla_npu(system), system.memory});
    const StoredCube& result = plan.layers.back().stored;
    RunOptions options;
    options.keep.push_back({{result.cube.base, result.cube.extent()}});
    const auto input = std::ranges::find(plan.images, plan.input.cube.base, &PlannedImage::address);
    ASSERT_NE(input, plan.images.end());
    std::vector<std::uint8_t> bytes(input->bytes.value);
    for (const MemoryImage::Run& run : input->image.runs) {
        std::copy_n(input->image.bytes.begin() + static_cast<std::ptrdiff_t>(run.position),
                    run.size, bytes.begin() + static_cast<std::ptrdiff_t>(run.offset));
    }
    const Loadable written =
        plan_loadable(plan, {{{"input"}}, {{"sum", "sum"}}}, nvdla_npu(system));
    const Result expected = run_program(plan_program(plan), system, options);

    const Loadable read = parse_loadable(loadable_bytes(written), "x.fbuf");
    const LoadableProgram made = loadable_program(read, "x.fbuf", system, {{0, bytes}});
    const CheckReport report = check_program(made.program, {nvdla_npu(system), system.memory});
    EXPECT_TRUE(report.findings.empty());
    const BoundTensor& output = made.outputs.at(0);
    options.keep = {{{output.address, Bytes(output.tensor.size)}}};
    const Result actual = run_program(made.program, system, options);
    EXPECT_TRUE(actual.findings.empty());
    EXPECT_EQ(actual.kept, expected.kept);
    EXPECT_TRUE(std::ranges::any_of(actual.kept[0], [](std::uint8_t byte) { return byte != 0; }));
}

class PlanLoadable : public testing::TestWithParam<std::string> {};

TEST_P(PlanLoadable, LeavesWhatThePlansProgramLeaves) { expect_same(GetParam(), network_text); }

TEST_P(PlanLoadable, MayReuseMemoryThatAnEarlierConvolutionReads) {
    expect_same(GetParam(), reuse_text);
}

TEST(PlanLoadableLookups, LeaveWhatThePlansProgramLeaves) {
    expect_same("nv_full", lookup_text);
    expect_same("nv_large", lookup_text);
}

TEST(PlanLoadableLookups, AreRefusedWhereTheCdpDoesThem) {
    const SystemConfig system = system_of("nv_small");
    PlanTarget target{nvdla_npu(system), system.memory};
    target.describable = true;
    const auto planned = try_plan_network(parse_network(lookup_text, "sample.yaml"), target);
    const auto* problem = std::get_if<Diagnostic>(&planned);
    ASSERT_NE(problem, nullptr);
    EXPECT_EQ(problem->operation, "act");
}

INSTANTIATE_TEST_SUITE_P(Presets, PlanLoadable, testing::Values("nv_small", "nv_large", "nv_full"),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace npuscope
