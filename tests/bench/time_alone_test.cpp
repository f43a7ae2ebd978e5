// SPDX-License-Identifier: Apache-2.0
// A run without values takes the same cycles and moves the same beats as one with them.
#include <gtest/gtest.h>

#include "bench/layer_pair.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/run/session.h"

namespace npuscope::bench {
namespace {

Result run(const Program& program, bool values) {
    RunOptions options;
    options.values = values;
    return run_program(program, nvdla_system(), options);
}

constexpr LayerShape layer{.width = 14,
                           .height = 14,
                           .channels = 64,
                           .kernels = 40,
                           .kernel_size = 3,
                           .padding = 1,
                           .data_banks = 4,
                           .weight_banks = 8};

void expect_same_time(const Program& program) {
    const Result with = run(program, true);
    const Result without = run(program, false);
    EXPECT_GT(with.cycles, Cycles(0));
    EXPECT_EQ(with.cycles, without.cycles);
    EXPECT_EQ(with.simulated_cycles, without.simulated_cycles);
    EXPECT_EQ(with.total_traffic().read_beats, without.total_traffic().read_beats);
    EXPECT_EQ(with.total_traffic().write_beats, without.total_traffic().write_beats);
    ASSERT_EQ(with.operations.size(), without.operations.size());
    for (std::size_t i = 0; i < with.operations.size(); ++i) {
        EXPECT_EQ(with.operations[i].causes.cycles, without.operations[i].causes.cycles);
    }
}

TEST(TimeAlone, ConvolutionTakesTheSameCycles) { expect_same_time(program_of({{layer}}, "p")); }

TEST(TimeAlone, PairOfLayersTakesTheSameCycles) {
    expect_same_time(program_of({{layer, layer}}, "p"));
}

/// The program without its images, as read where they are missing.
Program without_images(Program program) {
    for (Statement& statement : program.statements) {
        if (auto* load = std::get_if<LoadMemory>(&statement.action)) {
            load->image = {};
        }
    }
    return program;
}

TEST(TimeAlone, NeedsNoImages) {
    const Program program = program_of({{layer}}, "p");
    const Result bare = run(without_images(program), false);
    EXPECT_EQ(bare.cycles, run(program, true).cycles);
    EXPECT_TRUE(bare.findings.empty());
}

TEST(TimeAlone, ChecksAreSkipped) {
    Program program = program_of({{layer}}, "p");
    CheckCrc wrong;
    wrong.sync = "sync_id_0";
    wrong.address = Address(0xa0000000);
    wrong.bytes = Bytes(64);
    program.statements.emplace_back().action = wrong;
    const Result with = run(program, true);
    EXPECT_EQ(with.status(), RunStatus::Fail);
    const Result without = run(program, false);
    EXPECT_EQ(without.status(), RunStatus::Unchecked);
    ASSERT_EQ(without.checks.size(), 1U);
    EXPECT_TRUE(without.checks[0].skipped);
    EXPECT_EQ(without.checks[0].actual, "skipped");
}

}  // namespace
}  // namespace npuscope::bench
