// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/compressed_wait.h"

#include <gtest/gtest.h>

#include "sim/compile/nvdla/tiling_estimate.h"

namespace npuscope {
namespace {

/// Of nv_full.
TilingCosts full_costs() {
    TilingCosts costs;
    costs.npu.datapath.atomic_c = 64;
    costs.npu.datapath.atomic_k = 32;
    costs.npu.datapath.memory_atom = Bytes(32);
    costs.npu.cbuf.banks = 16;
    costs.npu.cbuf.bank_width = Bytes(128);
    costs.npu.cbuf.bank_depth = 256;
    costs.npu.mcif.bus_width = Bytes(64);
    return costs;
}

/// 512 kernels of 3 x 3 x 512 on a map of 7 x 7; of the weights, `percent` are not zero.
ConvProblem pruned_problem(std::uint64_t percent) {
    ConvProblem problem;
    problem.input = {512, 7, 7};
    problem.kernels = {512, 512, 3, 3};
    problem.geometry = {.out_height = 7, .out_width = 7, .pad_top = 1, .pad_left = 1};
    const Bytes plain(problem.kernels.elements());
    const Bytes values(round_up(plain.value * percent / 100, 128));
    problem.compressed = CompressedSizes{.values = values,
                                         .mask = Bytes(plain.value / 8),
                                         .sizes = Bytes(64),
                                         .group_values = Bytes(values.value / 16),
                                         .plain = plain};
    return problem;
}

std::uint64_t wait_of(std::uint64_t percent) {
    constexpr std::uint64_t compute = 3600;  // of a group, in the MAC cells
    const TilingCosts costs = full_costs();
    const ConvProblem problem = pruned_problem(percent);
    const ConvOperands operands = operands_of(problem, {.compressed = true}, costs.npu);
    return CompressedWait(problem, operands, costs, 14).cycles(compute);
}

// simulated on nv_full: cycles with compressed weights less those with plain ones
TEST(CompressedWait, IsThatOfASimulation) {
    EXPECT_NEAR(static_cast<double>(wait_of(90)), 36'199, 1'800);
    EXPECT_NEAR(static_cast<double>(wait_of(70)), 28'317, 1'400);
    EXPECT_NEAR(static_cast<double>(wait_of(50)), 4'695, 1'000);
    EXPECT_NEAR(static_cast<double>(wait_of(30)), 2'873, 500);
}

TEST(CompressedWait, WeightsStayPlainWhereTheirMasksWouldWaitForRoom) {
    const auto tiling = choose_tiling(pruned_problem(70), full_costs());
    EXPECT_FALSE(std::get<ConvTiling>(tiling).form.compressed);
}

TEST(CompressedWait, SlowMemoryMakesFewerBytesFaster) {
    TilingCosts costs = full_costs();
    costs.memory.interval_256 = 8 * 256;
    const auto tiling = choose_tiling(pruned_problem(30), costs);
    EXPECT_TRUE(std::get<ConvTiling>(tiling).form.compressed);
}

}  // namespace
}  // namespace npuscope
