// SPDX-License-Identifier: Apache-2.0
// Slots of pooling operations as in the nv_small RTL: 8 cycles an atom, results at the slot's end.
#include "models/pdp/pdp_timing.h"

#include <gtest/gtest.h>

#include <vector>

namespace npuscope {
namespace {

using Counts = std::vector<std::uint32_t>;

PoolingPace pace_of_nv_small(std::uint32_t out_width) {
    PoolingPace pace(Cycles(8), Cycles(3));
    pace.begin(Cycles(100));
    pace.begin_part(out_width);
    return pace;
}

void take_line(PoolingPace& pace, const Counts& windows, std::uint32_t lines_ending) {
    pace.begin_piece(lines_ending);
    for (const std::uint32_t ending : windows) {
        pace.take_atom(Cycles(0), ending);
    }
}

TEST(PdpTiming, windows_end_at_their_last_real_position) {
    EXPECT_EQ(windows_ending({.in_size = 4, .out_size = 2, .kernel = 2, .stride = 2}),
              (Counts{0, 1, 0, 1}));
    // 3 x 1 with padding on both sides: the last two end together
    EXPECT_EQ(
        windows_ending({.in_size = 4, .out_size = 4, .kernel = 3, .stride = 1, .pad_before = 1}),
        (Counts{0, 1, 1, 2}));
    // a window larger than the input
    EXPECT_EQ(windows_ending({.in_size = 3, .out_size = 1, .kernel = 8, .pad_before = 2}),
              (Counts{0, 0, 1}));
}

TEST(PdpTiming, an_atom_takes_its_elements_over_the_throughput) {
    EXPECT_EQ(pooling_slot(8, 1), Cycles(8));
    EXPECT_EQ(pooling_slot(32, 8), Cycles(4));
    EXPECT_EQ(pooling_slot(8, 3), Cycles(3));
}

TEST(PdpTiming, waits_for_an_atom_that_is_late_and_not_for_one_on_time) {
    PoolingPace on_time = pace_of_nv_small(4);
    on_time.begin_piece(0);
    on_time.take_atom(Cycles(100), 0);
    on_time.take_atom(Cycles(108), 0);
    EXPECT_EQ(on_time.input_end(), Cycles(116));
    EXPECT_EQ(on_time.waited(), Cycles(0));
    PoolingPace late = pace_of_nv_small(4);
    late.begin_piece(0);
    late.take_atom(Cycles(100), 0);
    late.take_atom(Cycles(109), 0);
    EXPECT_EQ(late.input_end(), Cycles(117));
    EXPECT_EQ(late.waited(), Cycles(1));
}

TEST(PdpTiming, an_atom_of_memory_that_is_late_is_taken_earlier_than_the_first) {
    PoolingPace pace(Cycles(8), Cycles(3));
    pace.begin(Cycles(100), Cycles(1));
    pace.begin_part(4);
    pace.begin_piece(0);
    pace.take_atom(Cycles(100), 0);
    pace.take_atom(Cycles(109), 0);  // on time
    EXPECT_EQ(pace.input_end(), Cycles(116));
    EXPECT_EQ(pace.waited(), Cycles(0));
    pace.take_atom(Cycles(118), 0);  // late
    EXPECT_EQ(pace.input_end(), Cycles(125));
    EXPECT_EQ(pace.waited(), Cycles(1));
}

TEST(PdpTiming, results_leave_in_the_slots_that_complete_them) {
    PoolingPace pace = pace_of_nv_small(2);
    take_line(pace, {0, 1, 0, 1}, 1);
    EXPECT_EQ(pace.results().first, Cycles(116));
    EXPECT_EQ(pace.results().last, Cycles(132));
    EXPECT_EQ(pace.results().count, 2U);
}

TEST(PdpTiming, windows_that_end_together_push_the_next_line_back) {
    PoolingPace pace = pace_of_nv_small(4);
    take_line(pace, {0, 1, 1, 2}, 1);
    EXPECT_EQ(pace.input_end(), Cycles(132));
    EXPECT_EQ(pace.results().last, Cycles(140));
    take_line(pace, {1, 1, 1, 1}, 1);  // its first window ends in its first column
    EXPECT_EQ(pace.results().first, Cycles(148));
    PoolingPace free = pace_of_nv_small(4);
    take_line(free, {0, 1, 1, 2}, 1);
    take_line(free, {0, 1, 1, 2}, 1);  // in its second column: on time
    EXPECT_EQ(free.results().first, Cycles(148));
    EXPECT_EQ(free.input_end(), Cycles(164));
}

TEST(PdpTiming, results_of_a_single_column_need_a_gap) {
    PoolingPace one = pace_of_nv_small(1);
    for (int line = 0; line < 3; ++line) {
        take_line(one, {1}, 1);
    }
    EXPECT_EQ(one.output_end(), Cycles(108 + 11 + 11));
    PoolingPace two = pace_of_nv_small(2);
    for (int line = 0; line < 3; ++line) {
        take_line(two, {1, 1}, 1);
    }
    EXPECT_EQ(two.output_end(), Cycles(100 + 6 * 8));
}

TEST(PdpTiming, lines_that_end_together_leave_behind_each_other) {
    PoolingPace pace = pace_of_nv_small(4);
    take_line(pace, {1, 1, 1, 1}, 2);
    const PooledAtoms line = pace.flush_line(false);
    EXPECT_EQ(line.first, Cycles(140));
    EXPECT_EQ(line.last, Cycles(164));
    take_line(pace, {1, 1, 1, 1}, 0);  // the next surface goes on
    EXPECT_EQ(pace.input_end(), Cycles(164));
    PoolingPace held = pace_of_nv_small(4);
    take_line(held, {1, 1, 1, 1}, 2);
    held.flush_line(true);
    take_line(held, {1, 1, 1, 1}, 0);  // the next surface waits
    EXPECT_EQ(held.input_end(), Cycles(196));
}

TEST(PdpTiming, lines_are_in_the_way_when_the_next_surface_needs_their_room) {
    const auto held = [](std::uint32_t height, std::uint32_t kernel, std::uint32_t before,
                         std::uint32_t after) {
        return lines_in_the_way({.in_size = height,
                                 .out_size = height + before + after - kernel + 1,
                                 .kernel = kernel,
                                 .stride = 1,
                                 .pad_before = before});
    };
    EXPECT_EQ(held(8, 3, 1, 1), 0U);  // one line, while the next two bring no result
    EXPECT_EQ(held(8, 2, 1, 1), 1U);  // the very next line brings a result
    EXPECT_EQ(held(8, 3, 0, 2), 1U);
    EXPECT_EQ(held(4, 3, 0, 2), 2U);
    EXPECT_EQ(held(8, 4, 0, 3), 0U);
    EXPECT_EQ(held(4, 5, 0, 4), 0U);
}

}  // namespace
}  // namespace npuscope
