// SPDX-License-Identifier: Apache-2.0
#include "models/link/atom_stream.h"

#include <gtest/gtest.h>

#include <vector>

namespace npuscope::atom_stream_test {
namespace {

AtomStreamSetup setup_with(const AtomStreamLimits& limits) {
    return {.first = Cycles(20), .limits = limits};
}

std::vector<ByteRun> runs_of(std::uint64_t count, std::uint64_t atoms) {
    std::vector<ByteRun> runs;
    for (std::uint64_t i = 0; i < count; ++i) {
        runs.push_back({Address(0x1000 * i), Bytes(8 * atoms)});
    }
    return runs;
}

void arrive(AtomStream& stream, std::uint64_t first, std::uint64_t count) {
    std::vector<Cycles> times;
    for (std::uint64_t i = 0; i < count; ++i) {
        times.emplace_back(first + i);
    }
    stream.arrived(times);
}

TEST(AtomStream, asks_run_by_run_as_far_as_the_fifo_holds) {
    AtomStream stream(setup_with({.beats = 6, .buffer = 1, .runs = 9, .give_back = Cycles(5)}),
                      runs_of(3, 4));
    EXPECT_EQ(stream.beats(), 12U);
    const auto first = stream.next_burst();
    ASSERT_TRUE(first && first->run);
    EXPECT_EQ(first->beats, 4U);
    EXPECT_EQ(first->ready, Cycles(20));
    const auto second = stream.next_burst();
    EXPECT_EQ(second->beats, 2U);
    EXPECT_EQ(second->run->address, Address(0x1000));
    EXPECT_FALSE(stream.next_burst());  // nothing has arrived
}

TEST(AtomStream, a_beat_that_leaves_the_fifo_gives_its_place_back) {
    AtomStream stream(setup_with({.beats = 2, .buffer = 1, .runs = 9, .give_back = Cycles(5)}),
                      runs_of(1, 4));
    EXPECT_EQ(stream.next_burst()->beats, 2U);
    arrive(stream, 100, 2);
    EXPECT_EQ(stream.next_burst()->ready, Cycles(105));  // into the buffer at once
    EXPECT_FALSE(stream.next_burst());                   // the buffer is full
    stream.taken(Cycles(110));
    EXPECT_EQ(stream.next_burst()->ready, Cycles(117));
}

TEST(AtomStream, holds_more_where_its_consumer_awaits_more_than_the_fifo_has_room_for) {
    AtomStream stream(setup_with({.beats = 2, .buffer = 1, .runs = 9, .give_back = Cycles(5)}),
                      runs_of(1, 4));
    EXPECT_EQ(stream.next_burst()->beats, 2U);
    arrive(stream, 100, 2);
    EXPECT_TRUE(stream.next_burst());
    EXPECT_FALSE(stream.next_burst());
    EXPECT_TRUE(stream.hold_more());
    EXPECT_TRUE(stream.next_burst());  // the last one
    for (int more = 0; more < 9; ++more) {
        stream.hold_more();
    }
    EXPECT_FALSE(stream.hold_more());
}

TEST(AtomStream, a_run_begins_when_the_queue_has_a_place_for_it) {
    AtomStream stream(setup_with({.beats = 60, .buffer = 9, .runs = 2, .give_back = Cycles(5)}),
                      runs_of(3, 2));
    EXPECT_EQ(stream.next_burst()->beats, 2U);
    EXPECT_EQ(stream.next_burst()->beats, 2U);
    EXPECT_FALSE(stream.next_burst());
    arrive(stream, 100, 4);
    EXPECT_EQ(stream.beats_until(2), 2U);
    EXPECT_EQ(stream.arrival(1), Cycles(101));
    stream.taken(Cycles(108));
    EXPECT_EQ(stream.next_burst()->ready, Cycles(115));
}

TEST(AtomStream, a_run_leaves_the_queue_when_the_one_before_has_been_taken) {
    AtomStream stream(
        setup_with(
            {.beats = 60, .buffer = 9, .runs = 2, .give_back = Cycles(5), .slot = Cycles(8)}),
        runs_of(4, 2));
    EXPECT_EQ(stream.next_burst()->beats, 2U);
    EXPECT_EQ(stream.next_burst()->beats, 2U);
    EXPECT_FALSE(stream.next_burst());
    arrive(stream, 100, 2);
    stream.taken(Cycles(108));
    // the first one when its first atom begins, in cycle 100
    EXPECT_EQ(stream.next_burst()->ready, Cycles(100 + 1 + 2 + 5));
    EXPECT_FALSE(stream.next_burst());
    stream.taken(Cycles(116));
    // the second one now, though its atoms have not arrived
    EXPECT_EQ(stream.next_burst()->ready, Cycles(116 + 1 + 2 + 5));
}

TEST(AtomStream, atoms_share_wide_beats_and_fill_narrow_ones) {
    AtomStreamSetup wide = setup_with({.beats = 4, .buffer = 1, .runs = 9, .give_back = Cycles(5)});
    wide.atom = Bytes(32);
    wide.beat = Bytes(64);
    AtomStream shared(wide, {{Address(32), Bytes(96)}});
    EXPECT_EQ(shared.beats(), 2U);
    EXPECT_EQ(shared.beats_until(1), 2U);  // with the second atom, in the second beat
    EXPECT_EQ(shared.beats_until(2), 2U);
    EXPECT_EQ(shared.next_burst()->beats, 2U);
    arrive(shared, 100, 2);
    EXPECT_EQ(shared.arrival(0), Cycles(101));
    EXPECT_EQ(shared.arrival(1), Cycles(101));
    EXPECT_EQ(shared.arrival(2), Cycles(102));  // alone, after them
    wide.beat = Bytes(8);
    wide.limits.beats = 16;
    AtomStream split(wide, {{Address(32), Bytes(96)}});
    EXPECT_EQ(split.beats(), 12U);
    EXPECT_EQ(split.beats_until(1), 4U);
    EXPECT_EQ(split.beats_until(3), 12U);
}

TEST(AtomStream, a_run_that_begins_amid_a_beat_takes_no_more_of_the_fifo) {
    AtomStreamSetup wide = setup_with({.beats = 4, .buffer = 1, .runs = 9, .give_back = Cycles(5)});
    wide.atom = Bytes(32);
    wide.beat = Bytes(64);
    const ByteRun amid{Address(32), Bytes(128)};  // three beats of the bus, two slots
    AtomStream stream(wide, {amid, amid, amid});
    EXPECT_EQ(stream.next_burst()->beats, 3U);
    EXPECT_EQ(stream.next_burst()->beats, 3U);
    EXPECT_EQ(stream.next_burst()->beats, 1U);  // which fills no slot by itself
    EXPECT_FALSE(stream.next_burst());
    arrive(stream, 100, 3);
    EXPECT_EQ(stream.next_burst()->ready, Cycles(101 + 5));  // the first slot is filled by two
    EXPECT_FALSE(stream.next_burst());
    stream.taken(Cycles(110));
    EXPECT_FALSE(stream.next_burst());  // an atom of the two
    stream.taken(Cycles(111));
    EXPECT_EQ(stream.next_burst()->ready, Cycles(111 + 2 + 5));
}

}  // namespace
}  // namespace npuscope::atom_stream_test
