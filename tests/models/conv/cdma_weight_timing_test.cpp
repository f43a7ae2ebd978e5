// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "models/conv/cdma_timing.h"

namespace npuscope::cdma_weight_timing_test {
namespace {

/// Two kernel groups of 40 and 24 beats; the operation is enabled in cycle 100.
struct Fetch {
    ReleaseLedger releases;
    std::uint64_t capacity = 1024;
    std::uint64_t promised = 0;

    WeightStream stream() const {
        return WeightStream(CdmaConfig{}, {.address = Address(0x90000000),
                                           .group_ends = {40, 64},
                                           .beat = Bytes(8),
                                           .beats_per_entry = 1,
                                           .start = Cycles(100),
                                           .room = {&releases, capacity, promised}});
    }
};

std::vector<Cycles> a_cycle_each(std::uint64_t first, std::size_t beats) {
    std::vector<Cycles> times;
    for (std::size_t i = 0; i < beats; ++i) {
        times.emplace_back(first + i);
    }
    return times;
}

TEST(WeightRequests, are_all_ready_at_once_where_the_banks_hold_them) {
    WeightStream stream = Fetch().stream();
    const auto first = stream.next_burst();
    EXPECT_EQ(first->ready, Cycles(129));
    EXPECT_EQ(first->beats, 40U);
    EXPECT_EQ(first->run, (ByteRun{Address(0x90000000), Bytes(320)}));
    const auto second = stream.next_burst();
    EXPECT_EQ(second->beats, 24U);
    EXPECT_EQ(second->run, (ByteRun{Address(0x90000140), Bytes(192)}));
}

TEST(WeightRequests, of_groups_that_are_left_out_are_those_of_the_last_ones) {
    const ReleaseLedger releases;
    WeightStream stream(CdmaConfig{}, {.address = Address(0x90000000),
                                       .group_ends = {12, 24, 36, 48, 60, 72, 86},
                                       .beat = Bytes(8),
                                       .beats_per_entry = 1,
                                       .start = Cycles(100),
                                       .room = {&releases, 1024, 0}});
    EXPECT_EQ(stream.next_burst()->beats, 16U);  // the first group, up to the end of its piece
    // of the four remaining groups, two make whole pieces together; the last has zeros after it
    const GroupStream::Removable some = stream.removable();
    EXPECT_EQ(some.groups, 4U);
    EXPECT_EQ(some.step, 2U);
    EXPECT_EQ(stream.leave_out(4, 48), 48U);
    EXPECT_EQ(stream.beats(), 38U);
    EXPECT_EQ(stream.group_end(1), 24U);
    EXPECT_EQ(stream.group_end(2), 38U);
    EXPECT_EQ(stream.next_burst()->beats, 8U);
    EXPECT_EQ(stream.next_burst()->beats, 14U);
}

TEST(WeightRequests, of_unequal_groups_cannot_be_left_out) {
    const ReleaseLedger releases;
    WeightStream stream(CdmaConfig{}, {.address = Address(0x90000000),
                                       .group_ends = {12, 24, 37, 48, 60},
                                       .beat = Bytes(8),
                                       .beats_per_entry = 1,
                                       .start = Cycles(100),
                                       .room = {&releases, 1024, 0}});
    EXPECT_EQ(stream.removable().groups, 0U);
}

TEST(WeightRequests, end_with_pieces_and_not_with_groups) {
    const ReleaseLedger releases;
    WeightStream stream(CdmaConfig{}, {.address = Address(0x90000000),
                                       .group_ends = {27, 31, 54},
                                       .beat = Bytes(8),
                                       .beats_per_entry = 1,
                                       .start = Cycles(100),
                                       .room = {&releases, 1024, 0}});
    const auto first = stream.next_burst();
    EXPECT_EQ(first->beats, 32U);
    EXPECT_EQ(first->run, (ByteRun{Address(0x90000000), Bytes(256)}));
    const auto second = stream.next_burst();
    EXPECT_EQ(second->beats, 22U);
    EXPECT_EQ(second->run, (ByteRun{Address(0x90000100), Bytes(176)}));
}

TEST(WeightRequests, may_lie_one_piece_beyond_the_banks) {
    Fetch fetch;
    fetch.capacity = 24;
    WeightStream stream = fetch.stream();
    EXPECT_EQ(stream.next_burst()->beats, 32U);
    EXPECT_FALSE(stream.next_burst());
    fetch.releases.release(Cycles(700), 7);  // a piece has eight
    EXPECT_FALSE(stream.next_burst());
    fetch.releases.release(Cycles(800), 1);
    const auto next = stream.next_burst();
    EXPECT_EQ(next->ready, Cycles(800));
    EXPECT_EQ(next->beats, 8U);
    EXPECT_FALSE(next->run);
}

TEST(WeightRequests, count_what_the_operation_before_left_in_the_buffer) {
    Fetch fetch;
    fetch.capacity = 24;
    fetch.promised = 24;
    WeightStream stream = fetch.stream();
    EXPECT_EQ(stream.next_burst()->beats, 8U);
    EXPECT_FALSE(stream.next_burst());
}

TEST(WeightGroups, are_whole_ten_cycles_behind_their_last_beat) {
    WeightStream stream = Fetch().stream();
    stream.arrived(a_cycle_each(1000, 40));
    EXPECT_EQ(stream.group_written(0), Cycles(1049));
    stream.arrived(a_cycle_each(1040, 24));
    EXPECT_EQ(stream.group_written(1), Cycles(1073));
}

TEST(WeightGroups, become_known_two_cycles_apart) {
    WeightStream stream(CdmaConfig{}, {.address = Address(0), .group_ends = {1, 2, 4}, .room = {}});
    stream.arrived(a_cycle_each(1000, 4));
    EXPECT_EQ(stream.group_written(0), Cycles(1010));
    EXPECT_EQ(stream.group_written(1), Cycles(1012));
    EXPECT_EQ(stream.group_written(2), Cycles(1014));
}

TEST(WeightGroups, that_stood_waiting_for_room_say_so) {
    Fetch fetch;
    fetch.capacity = 32;
    WeightStream stream = fetch.stream();
    stream.next_burst();
    fetch.releases.release(Cycles(700), 40);
    stream.next_burst();
    stream.arrived(a_cycle_each(180, 40));
    stream.arrived(a_cycle_each(751, 24));
    EXPECT_FALSE(stream.waited_for_room(0));
    EXPECT_TRUE(stream.waited_for_room(1));
}

}  // namespace
}  // namespace npuscope::cdma_weight_timing_test
