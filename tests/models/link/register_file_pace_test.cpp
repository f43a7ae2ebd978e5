// SPDX-License-Identifier: Apache-2.0
#include "models/link/register_file_pace.h"

#include <gtest/gtest.h>

#include <vector>

namespace npuscope {
namespace {

constexpr Bytes kBeat{64};

// source: nv_full RTL, simulated: 20 planes of 37 bytes merge into lines of 37 atoms; a bank is
// full every 20 cycles and its 19 beats are read in the next ones
TEST(RegisterFilePace, reads_a_bank_while_the_other_one_is_filled) {
    RegisterFilePace file(Cycles(11), kBeat);
    const RegisterFill line{.reads = 20, .row = Bytes(37 * 32), .rows = 1};
    file.fill(line, Cycles(92));
    EXPECT_EQ(file.read_until(1), Cycles(103));
    EXPECT_EQ(file.read_until(256), Cycles(106));
    EXPECT_EQ(file.read_until(37 * 32), Cycles(121));
    file.begin_block();
    file.fill(line, Cycles(112));
    EXPECT_EQ(file.read_until(1), Cycles(123));
}

TEST(RegisterFilePace, a_bank_that_is_full_early_waits_for_the_other_one) {
    RegisterFilePace file(Cycles(11), kBeat);
    const RegisterFill pixels{.reads = 2, .row = Bytes(64), .rows = 5};
    file.fill(pixels, Cycles(78));
    file.begin_block();
    file.fill(pixels, Cycles(80));
    EXPECT_EQ(file.read_until(64), Cycles(94));
}

TEST(RegisterFilePace, each_row_begins_with_a_beat_of_its_own) {
    RegisterFilePace file(Cycles(11), kBeat);
    file.fill({.reads = 3, .row = Bytes(96), .rows = 8}, Cycles(100));
    EXPECT_EQ(file.read_until(96), Cycles(112));
    EXPECT_EQ(file.read_until(97), Cycles(113));
    EXPECT_EQ(file.read_until(96 * 8), Cycles(126));
}

TEST(RegisterFilePace, fills_of_a_block_follow_each_other) {
    RegisterFilePace file(Cycles(11), kBeat);
    const RegisterFill eight{.reads = 2, .row = Bytes(64), .rows = 8};
    file.fill(eight, Cycles(80));
    file.fill({.reads = 2, .row = Bytes(64), .rows = 2}, Cycles(84));
    EXPECT_EQ(file.read_until(64 * 8), Cycles(98));
    EXPECT_EQ(file.read_until(64 * 9), Cycles(99));
}

TEST(RegisterFilePace, has_room_for_a_third_fill_when_the_first_was_read) {
    RegisterFilePace file(Cycles(11), kBeat);
    const RegisterFill line{.reads = 20, .row = Bytes(37 * 32), .rows = 1};
    EXPECT_EQ(file.room(), Cycles(0));
    file.fill(line, Cycles(92));
    EXPECT_EQ(file.room(), Cycles(0));
    file.fill(line, Cycles(93));
    EXPECT_EQ(file.room(), Cycles(122 - 10));
}

// source: nv_full RTL, simulated: planes of two beats, each a request; a beat leaves the FIFO four
// cycles after it was read if nothing waits
TEST(RegisterFilePace, writes_that_are_slower_hold_the_reading_back) {
    RegisterFilePace file(Cycles(11), kBeat);
    file.fill({.reads = 1, .row = Bytes(128), .rows = 16}, Cycles(264 - 11));
    const std::vector<unsigned> left{269, 270, 272, 273, 275, 276, 279, 280, 283, 284};
    std::vector<unsigned> pushed;
    for (unsigned packet = 0; packet < left.size(); ++packet) {
        const std::uint64_t end = (packet + 1) * kBeat.value;
        pushed.push_back(static_cast<unsigned>(file.read_until(end).value + 2));
        file.left(end, Cycles(left[packet] - 4));
    }
    // six beats wait in the FIFO from 277 on; the next ones enter a cycle after one has left
    EXPECT_EQ(pushed, (std::vector<unsigned>{266, 267, 268, 269, 270, 271, 272, 273, 274, 275}));
    EXPECT_EQ(file.read_until(64 * 11) + Cycles(2), Cycles(276));
    EXPECT_EQ(file.read_until(64 * 12) + Cycles(2), Cycles(277));
    EXPECT_EQ(file.read_until(64 * 13) + Cycles(2), Cycles(280));
    EXPECT_EQ(file.read_until(64 * 14) + Cycles(2), Cycles(281));
    EXPECT_EQ(file.read_until(64 * 15) + Cycles(2), Cycles(284));
}

}  // namespace
}  // namespace npuscope
