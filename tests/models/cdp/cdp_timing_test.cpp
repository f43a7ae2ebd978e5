// SPDX-License-Identifier: Apache-2.0
// Blocks of normalisations as the nv_small RTL takes them; times of first results, the first atom
// arriving in cycle 1.
#include "models/cdp/cdp_timing.h"

#include <gtest/gtest.h>

#include <vector>

namespace npuscope {
namespace {

/// A cube of one-element-a-cycle work whose atoms arrive `interval` cycles apart.
struct Cube {
    std::uint32_t width = 1;
    std::uint32_t height = 1;
    std::uint32_t surfaces = 1;
    std::uint64_t interval = 1;
};

std::vector<std::uint64_t> first_results(const Cube& cube, const NormalisationShape& shape = {}) {
    NormalisationPace pace(shape);
    ResultPace leaving;
    std::vector<std::uint64_t> results;
    std::uint64_t arrived = 0;
    std::uint32_t before = 0;
    const auto leave = [&](Cycles ready, std::uint32_t columns) {
        results.push_back(leaving.leave(ready, columns).value);
    };
    for (std::uint32_t y = 0; y < cube.height; ++y) {
        for (std::uint32_t x = 0; x < cube.width; x += 8) {
            for (std::uint32_t surface = 0; surface < cube.surfaces; ++surface) {
                const std::uint32_t columns = std::min(8U, cube.width - x);
                std::vector<Cycles> arrivals;
                for (std::uint32_t i = 0; i < columns; ++i) {
                    arrivals.emplace_back(1 + arrived++ * cube.interval);
                }
                if (const auto ready = pace.take({columns, arrivals})) {
                    leave(*ready, before);
                }
                before = columns;
            }
        }
    }
    leave(pace.finish(), before);
    return results;
}

using Times = std::vector<std::uint64_t>;

// source of the figures: nv_small RTL, measured
TEST(CdpTiming, an_atom_takes_eight_cycles_and_a_full_block_one_more) {
    EXPECT_EQ(first_results({.width = 1, .height = 2, .surfaces = 2}), (Times{66, 74, 82, 90}));
    EXPECT_EQ(first_results({.width = 5, .surfaces = 2}), (Times{114, 154}));
    EXPECT_EQ(first_results({.width = 8, .height = 3}), (Times{150, 215, 280}));
}

TEST(CdpTiming, the_last_atom_of_a_block_has_until_its_turn) {
    EXPECT_EQ(first_results({.width = 7, .interval = 1}), (Times{138}));
    EXPECT_EQ(first_results({.width = 7, .interval = 2}), (Times{143}));
    EXPECT_EQ(first_results({.width = 2, .interval = 2}), (Times{78}));
    EXPECT_EQ(first_results({.width = 2, .interval = 4}), (Times{80}));
}

TEST(CdpTiming, a_narrow_block_waits_for_the_channels_of_a_full_one) {
    EXPECT_EQ(first_results({.width = 10, .height = 3}), (Times{150, 184, 254, 288, 358, 375}));
    EXPECT_EQ(first_results({.width = 12, .height = 2, .surfaces = 2}),
              (Times{150, 215, 248, 292, 360, 425, 458, 490}));
    EXPECT_EQ(first_results({.width = 9, .surfaces = 2}), (Times{150, 215, 232, 235}));
}

/// Blocks of two atoms a beat, eight channels a cycle, whose atoms are all there; when their beats leave.
std::vector<std::uint64_t> pairs_leave(std::vector<std::uint32_t> columns, bool floats = false) {
    NormalisationPace pace({.elements = 32,
                            .throughput = 8,
                            .bubble = Cycles(0),
                            .latency = Cycles(53),
                            .pairs = true,
                            .stages = floats ? 44U : 27U,
                            .bubbles = floats});
    std::vector<std::uint64_t> left;
    for (const std::uint32_t width : columns) {
        const std::vector<Cycles> there(width, Cycles(1));
        if (const auto leaves = pace.take({width, there})) {
            left.push_back(leaves->value);
        }
    }
    left.push_back(pace.finish().value);
    return left;
}

// source of the figures: nv_full RTL, simulated, from the first atom on: a line of 8 columns and 64 channels, of
// 9 to 12 columns and 32 channels
TEST(CdpTiming, a_full_block_makes_room_for_the_next_one_where_two_atoms_are_a_beat) {
    EXPECT_EQ(pairs_leave({8, 8, 8}), (Times{93, 127, 161}));
    EXPECT_EQ(pairs_leave({4, 4, 4}), (Times{73, 89, 105}));
    EXPECT_EQ(pairs_leave({8, 1}), (Times{93, 99}));
    EXPECT_EQ(pairs_leave({8, 2}), (Times{93, 103}));
    EXPECT_EQ(pairs_leave({8, 4, 8, 4}), (Times{93, 111, 145, 163}));
}

TEST(CdpTiming, a_wait_behind_a_full_block_of_fp16_costs_a_cycle_more) {
    EXPECT_EQ(pairs_leave({8, 8, 8}, true), (Times{93, 128, 163}));
}

TEST(CdpTiming, without_the_sum_nothing_waits_for_neighbours) {
    const NormalisationShape bypassed{.neighbours = false, .latency = Cycles(44)};
    EXPECT_EQ(first_results({.width = 8, .height = 3}, bypassed), (Times{109, 174, 239}));
    EXPECT_EQ(first_results({.width = 10, .height = 2}, bypassed), (Times{109, 126, 190, 207}));
}

TEST(CdpTiming, a_slow_memory_is_what_is_waited_for) {
    NormalisationPace pace({});
    const std::vector<Cycles> first{Cycles(1)};
    const std::vector<Cycles> on_time{Cycles(9)};
    const std::vector<Cycles> late{Cycles(20)};
    pace.take({1, first});
    pace.take({1, on_time});
    EXPECT_EQ(pace.waited(), Cycles(0));
    pace.take({1, late});
    EXPECT_EQ(pace.waited(), Cycles(2));
    EXPECT_EQ(pace.input_end(), Cycles(27));
}

}  // namespace
}  // namespace npuscope
