// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/sdp/sdp_timing.h"

namespace npuscope {
namespace {

/// A FIFO of four beats and room for four behind it; first request in cycle 21.
SdpStreamPlan small_plan(std::uint64_t beats) {
    return {.runs = {{Address(0x80000000), Bytes(8 * beats)}},
            .steps_per_line = beats,
            .start = Cycles(21),
            .fifo = 4,
            .unpacked = 4};
}

void arrive(SdpStream& stream, std::uint64_t first, std::uint64_t beats) {
    for (std::uint64_t i = 0; i < beats; ++i) {
        const Cycles time(first + i);
        stream.arrived({&time, 1});
    }
}

TEST(SdpStream, asks_for_as_much_as_the_fifo_holds_at_once) {
    const std::vector<Cycles> taken;
    SdpStream stream(SdpConfig{}, small_plan(12), taken);
    const auto burst = stream.next_burst();
    EXPECT_EQ(burst->ready, Cycles(21));
    EXPECT_EQ(burst->beats, 4U);
    EXPECT_FALSE(stream.next_burst());  // nothing has left the FIFO yet
}

TEST(SdpStream, ends_sooner_by_the_beats_of_atoms_that_are_left_out) {
    const std::vector<Cycles> taken;
    SdpStream stream(SdpConfig{}, small_plan(32), taken);
    stream.next_burst();
    const auto end = stream.without_last(20);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->beats, 20U);
    EXPECT_EQ(end->of_run, 20U);
    stream.shorten(*end);
    EXPECT_EQ(stream.beats(), 12U);
    EXPECT_EQ(stream.beats_for(11), 12U);
    EXPECT_FALSE(stream.without_last(10));  // four beats have been asked for
    EXPECT_FALSE(stream.without_last(3));   // requests come in groups of four
}

TEST(SdpStream, loses_whole_lines_of_what_is_stored_by_element) {
    const std::vector<Cycles> taken;
    SdpStreamPlan plan = small_plan(8);
    plan.runs.assign(6, {Address(0x80000000), Bytes(64)});
    SdpStream stream(SdpConfig{}, plan, taken);
    stream.next_burst();
    const auto end = stream.without_last(24);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->beats, 24U);
    EXPECT_EQ(end->of_run, 0U);
    stream.shorten(*end);
    EXPECT_EQ(stream.beats(), 24U);
    EXPECT_FALSE(stream.without_last(4));  // a part of a line
}

TEST(SdpStream, has_nothing_to_lose_once_it_has_asked_for_all) {
    const std::vector<Cycles> taken;
    SdpStream stream(SdpConfig{}, small_plan(4), taken);
    stream.next_burst();
    EXPECT_EQ(stream.without_last(3)->beats, 0U);
}

TEST(SdpStream, asks_anew_for_each_beat_that_passes_the_fifo) {
    const std::vector<Cycles> taken;
    SdpStream stream(SdpConfig{}, small_plan(12), taken);
    stream.next_burst();
    arrive(stream, 100, 4);
    for (std::uint64_t i = 0; i < 4; ++i) {
        const auto burst = stream.next_burst();
        EXPECT_EQ(burst->ready, Cycles(116 + i));
        EXPECT_EQ(burst->beats, 1U);
    }
    arrive(stream, 200, 4);
    EXPECT_FALSE(stream.next_burst());  // the room behind the FIFO is full
}

TEST(SdpStream, asks_for_a_group_when_the_atom_that_made_room_was_taken) {
    std::vector<Cycles> taken;
    SdpStream stream(SdpConfig{}, small_plan(16), taken);
    stream.next_burst();
    arrive(stream, 100, 8);
    for (int i = 0; i < 4; ++i) {
        stream.next_burst();
    }
    EXPECT_EQ(stream.ready_after(9), Cycles(0));
    taken.emplace_back(300);  // atom 0
    EXPECT_EQ(stream.ready_after(9), Cycles(319));
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(stream.next_burst()->ready, Cycles(319));
    }
    EXPECT_FALSE(stream.next_burst());
}

TEST(SdpStream, hands_beats_on_in_groups_that_end_with_a_line) {
    const std::vector<Cycles> taken;
    SdpStreamPlan plan = small_plan(14);
    plan.runs = {{Address(0x80000000), Bytes(56)}, {Address(0x80000100), Bytes(56)}};
    plan.steps_per_line = 7;
    const SdpStream stream(SdpConfig{}, plan, taken);
    EXPECT_EQ(stream.needed(0), 4U);
    EXPECT_EQ(stream.needed(3), 4U);
    EXPECT_EQ(stream.needed(4), 7U);
    EXPECT_EQ(stream.needed(6), 7U);
    EXPECT_EQ(stream.needed(7), 11U);
    EXPECT_EQ(stream.needed(13), 14U);
}

TEST(SdpStream, says_how_many_atoms_need_the_same_beats) {
    const std::vector<Cycles> taken;
    SdpStreamPlan plan = small_plan(14);
    plan.runs = {{Address(0x80000000), Bytes(56)}, {Address(0x80000100), Bytes(56)}};
    plan.steps_per_line = 7;
    const SdpStream stream(SdpConfig{}, plan, taken);
    for (std::uint64_t atom = 0; atom < 14; ++atom) {
        const std::uint64_t beats = stream.needed(atom);
        const std::uint64_t more = stream.alike(atom + 1);
        for (std::uint64_t next = atom + 1; next < 14; ++next) {
            const SdpStream fresh(SdpConfig{}, plan, taken);
            EXPECT_EQ(fresh.needed(next) == beats, next <= atom + more) << atom << ' ' << next;
        }
    }
}

TEST(SdpStream, serves_a_whole_surface_with_the_operands_of_its_channels) {
    const std::vector<Cycles> taken;
    SdpStreamPlan plan = small_plan(6);
    plan.step = Bytes(16);
    plan.atoms_per_step = 100;
    plan.steps_per_line = 3;
    const SdpStream stream(SdpConfig{}, plan, taken);
    EXPECT_EQ(stream.needed(0), 4U);
    EXPECT_EQ(stream.needed(199), 4U);
    EXPECT_EQ(stream.needed(200), 6U);
}

TEST(SdpStream, shares_a_beat_between_atoms_that_are_narrower) {
    std::vector<Cycles> taken;
    SdpStreamPlan plan = small_plan(0);
    // atoms of 32 bytes on a bus of 64: seven from the middle of a beat on are in four beats, and
    // two of them come together, counted from the first
    plan.runs = {{Address(0x80000020), Bytes(224)}, {Address(0x80000100), Bytes(224)}};
    plan.beat = Bytes(64);
    plan.step = Bytes(32);
    plan.steps_per_line = 7;
    plan.fifo = 1;
    plan.unpacked = 1;
    SdpConfig config;
    config.beat_group = 1;
    SdpStream stream(config, plan, taken);
    EXPECT_EQ(stream.beats(), 8U);
    EXPECT_EQ(stream.needed(0), 2U);
    EXPECT_EQ(stream.needed(1), 2U);
    EXPECT_EQ(stream.needed(2), 3U);
    EXPECT_EQ(stream.needed(6), 4U);
    EXPECT_EQ(stream.needed(7), 5U);
    EXPECT_EQ(stream.needed(8), 5U);
    EXPECT_EQ(stream.needed(13), 8U);
    stream.next_burst();
    arrive(stream, 100, 4);
    stream.next_burst();
    taken = {Cycles(300), Cycles(301), Cycles(302)};
    EXPECT_EQ(stream.next_burst()->ready, Cycles(319));  // the first beat brought atom 0
    EXPECT_EQ(stream.next_burst()->ready, Cycles(320));  // the second began with atom 1
}

TEST(SdpStream, needs_the_first_surface_of_a_pair_whole) {
    const std::vector<Cycles> taken;
    SdpStreamPlan plan = small_plan(0);
    plan.runs = {{Address(0x80000000), Bytes(40)}, {Address(0x80000100), Bytes(40)}};
    plan.steps_per_line = 5;
    plan.runs_per_line = 2;
    SdpConfig config;
    config.beat_group = 1;
    const SdpStream stream(config, plan, taken);
    EXPECT_EQ(stream.needed(0), 6U);
    EXPECT_EQ(stream.needed(4), 10U);
}

}  // namespace
}  // namespace npuscope
