// SPDX-License-Identifier: Apache-2.0
#include "models/link/block_mover.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

constexpr Bytes kBeat{64};

// source: nv_full RTL, simulated: 20 planes of 37 bytes merge into lines of 37 atoms; a bank is
// full every 20 cycles and its 19 beats are read in the next ones
TEST(RegisterFilePace, reads_a_bank_while_the_other_one_is_filled) {
    RegisterFilePace file(Cycles(11), kBeat);
    const MovedBlock::Fill line{.reads = 20, .row = Bytes(37 * 32), .rows = 1};
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
    const MovedBlock::Fill pixels{.reads = 2, .row = Bytes(64), .rows = 5};
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
    const MovedBlock::Fill eight{.reads = 2, .row = Bytes(64), .rows = 8};
    file.fill(eight, Cycles(80));
    file.fill({.reads = 2, .row = Bytes(64), .rows = 2}, Cycles(84));
    EXPECT_EQ(file.read_until(64 * 8), Cycles(98));
    EXPECT_EQ(file.read_until(64 * 9), Cycles(99));
}

TEST(RegisterFilePace, has_room_for_a_third_fill_when_the_first_was_read) {
    RegisterFilePace file(Cycles(11), kBeat);
    const MovedBlock::Fill line{.reads = 20, .row = Bytes(37 * 32), .rows = 1};
    EXPECT_EQ(file.room(), Cycles(0));
    file.fill(line, Cycles(92));
    EXPECT_EQ(file.room(), Cycles(0));
    file.fill(line, Cycles(93));
    EXPECT_EQ(file.room(), Cycles(122 - 10));
}

}  // namespace
}  // namespace npuscope
