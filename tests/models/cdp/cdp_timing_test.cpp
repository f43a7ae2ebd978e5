// SPDX-License-Identifier: Apache-2.0
// Normalisation blocks as the nv_small RTL processes them; times of first results, with the first
// atom arriving in cycle 1.
#include "models/cdp/cdp_timing.h"

#include <gtest/gtest.h>

#include <vector>

namespace npuscope::cdp_timing_test {
namespace {

using Times = std::vector<std::uint64_t>;

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

constexpr NormalisationShape kPairs{
    .elements = 32, .throughput = 8, .bubble = Cycles(0), .latency = Cycles(53), .pairs = true};
/// fp16 with a sum over five channels.
constexpr NormalisationShape kFloats{.elements = 16,
                                     .throughput = 4,
                                     .bubble = Cycles(0),
                                     .latency = Cycles(82),
                                     .pairs = true,
                                     .stages = 61,
                                     .midst = 28};

/// When the beats of blocks leave, two atoms per beat, with all atoms available.
Times pairs_leave(const std::vector<std::uint32_t>& columns,
                  const NormalisationShape& shape = kPairs) {
    NormalisationPace pace(shape);
    Times left;
    for (const std::uint32_t width : columns) {
        const std::vector<Cycles> there(width, Cycles(1));
        if (const auto leaves = pace.take({width, there})) {
            left.push_back(leaves->value);
        }
    }
    left.push_back(pace.finish().value);
    return left;
}

/// Cycles from each block's beats to those of the next one.
Times between(const Times& times) {
    Times apart;
    for (std::size_t i = 1; i < times.size(); ++i) {
        apart.push_back(times[i] - times[i - 1]);
    }
    return apart;
}

// source of the figures: nv_full RTL, simulated, from the first atom on: a line of 8 columns and 64
// channels, of 9 to 12 columns and 32 channels
TEST(CdpTiming, a_full_block_makes_room_for_the_next_one_where_two_atoms_are_a_beat) {
    EXPECT_EQ(pairs_leave({8, 8, 8}), (Times{93, 127, 161}));
    EXPECT_EQ(pairs_leave({4, 4, 4}), (Times{73, 89, 105}));
    EXPECT_EQ(pairs_leave({8, 1}), (Times{93, 99}));
    EXPECT_EQ(pairs_leave({8, 2}), (Times{93, 103}));
    EXPECT_EQ(pairs_leave({8, 4, 8, 4}), (Times{93, 111, 145, 163}));
}

TEST(CdpTiming, a_wait_behind_a_full_block_of_fp16_costs_a_cycle_more) {
    EXPECT_EQ(between(pairs_leave({8, 8, 8}, kFloats)), (Times{35, 35}));
}

// source of the figures: nv_full RTL, simulated: columns and channels 7, 123; 13, 44; 26, 7; 9, 101
TEST(CdpTiming, the_bubble_of_fp16_comes_after_what_the_stages_behind_the_interpolation_hold) {
    NormalisationShape bypassed = kFloats;
    bypassed.neighbours = false;
    bypassed.stages = 41;
    bypassed.midst = 24;
    EXPECT_EQ(between(pairs_leave({7, 7, 7, 7}, bypassed)), (Times{31, 31, 31}));
}

TEST(CdpTiming, what_enters_the_stages_of_fp16_meets_the_bubble_too) {
    EXPECT_EQ(between(pairs_leave({8, 8, 8, 5, 5, 5, 8, 8}, kFloats)),
              (Times{35, 35, 22, 21, 20, 32, 35}));
    NormalisationShape without_product = kFloats;
    without_product.latency = Cycles(79);
    without_product.stages = 57;
    without_product.midst = 24;
    EXPECT_EQ(between(pairs_leave({8, 8, 8, 2, 8, 8, 8, 2}, without_product)),
              (Times{35, 35, 10, 33, 35, 35, 10}));
}

TEST(CdpTiming, a_gap_in_the_interpolation_of_fp16_takes_up_a_wait_but_for_a_cycle) {
    NormalisationShape of_three = kFloats;
    of_three.latency = Cycles(78);
    of_three.stages = 57;
    EXPECT_EQ(between(pairs_leave({8, 8, 8, 8, 8, 8, 8, 1, 1, 1, 1, 1, 1, 1, 8, 8}, of_three)),
              (Times{35, 35, 35, 35, 35, 35, 6, 4, 4, 4, 4, 4, 4, 35, 35}));
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
}  // namespace npuscope::cdp_timing_test
