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

// source: nv_full RTL, simulated: a line of nine to twelve columns
TEST(CdpTiming, beats_of_several_atoms_leave_a_cycle_apart) {
    ResultPace leaving = ResultPace::of_beats(2);
    EXPECT_EQ(leaving.leave(Cycles(100), 8), Cycles(100));  // until 103
    EXPECT_EQ(leaving.leave(Cycles(101), 1), Cycles(104));
    EXPECT_EQ(leaving.leave(Cycles(110), 2), Cycles(110));
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
