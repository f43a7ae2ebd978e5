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
    const std::vector<ByteRun> whole = small_plan(32).runs;
    const std::vector<ByteRun> left_out = stream.shorten(*end);
    ASSERT_EQ(left_out.size(), 1U);
    EXPECT_EQ(left_out.front().end(), whole.front().end());
    EXPECT_EQ(left_out.front().bytes, Bytes(20 * 8));
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
    EXPECT_EQ(stream.shorten(*end).size(), 3U);
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

TEST(SdpStream, a_line_that_begins_amid_a_beat_takes_no_more_of_the_fifo) {
    const std::vector<Cycles> taken;
    SdpConfig config;
    config.beat_group = 1;
    SdpStreamPlan plan = small_plan(0);
    plan.beat = Bytes(64);
    plan.step = Bytes(32);
    plan.steps_per_line = 4;
    plan.runs.assign(6, {Address(0x80000020), Bytes(128)});  // three beats of the bus, two slots
    SdpStream stream(config, plan, taken);
    EXPECT_EQ(stream.beats(), 18U);
    EXPECT_EQ(stream.next_burst()->beats, 3U);
    EXPECT_EQ(stream.next_burst()->beats, 3U);
    EXPECT_EQ(stream.next_burst()->beats, 1U);  // which fills no slot by itself
    EXPECT_FALSE(stream.next_burst());
    arrive(stream, 100, 3);
    EXPECT_EQ(stream.next_burst()->ready, Cycles(101 + 16));  // the first slot is filled by two
    EXPECT_EQ(stream.next_burst()->ready, Cycles(102 + 16));
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
    plan.fifo = 2;
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
    EXPECT_EQ(stream.next_burst()->beats, 3U);  // which fill the FIFO's two slots
    arrive(stream, 100, 3);
    EXPECT_FALSE(stream.next_burst());
    taken = {Cycles(300), Cycles(301), Cycles(302)};
    EXPECT_EQ(stream.next_burst()->ready, Cycles(319));  // the first slot held atoms 0 and 1
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

/// The same in lines of `beats` beats, whose packs let the next one in 20 cycles after an atom.
SdpStreamPlan packed_plan(std::uint64_t lines, std::uint64_t beats) {
    SdpStreamPlan plan = small_plan(beats);
    plan.runs.assign(lines, {Address(0x80000000), Bytes(8 * beats)});
    plan.pack_request = Cycles(20);
    return plan;
}

/// When the beats after the first four can be asked for, as far as that is known.
std::vector<Cycles> later_requests(SdpStream& stream) {
    stream.next_burst();
    std::vector<Cycles> times;
    while (const auto burst = stream.next_burst()) {
        times.insert(times.end(), burst->beats, burst->ready);
    }
    return times;
}

TEST(SdpStream, a_pack_leaves_its_fifo_when_the_atoms_two_packs_before_have_left) {
    std::vector<Cycles> taken;
    SdpStream stream(SdpConfig{}, packed_plan(1, 16), taken);
    arrive(stream, 100, 12);
    // two packs leave at once; the last operand of the first one does three atoms before its own
    EXPECT_EQ(later_requests(stream).size(), 8U);
    EXPECT_FALSE(stream.next_burst());
    taken = {Cycles(1000)};
    for (std::uint64_t beat = 0; beat < 4; ++beat) {  // one a cycle
        EXPECT_EQ(stream.next_burst()->ready, Cycles(1020 + beat));
    }
}

TEST(SdpStream, a_pack_leaves_the_earlier_the_more_atoms_are_between_its_places_and_the_stage) {
    std::vector<Cycles> taken;
    SdpStreamPlan plan = packed_plan(1, 24);
    plan.on_way = 4;
    SdpStream stream(SdpConfig{}, plan, taken);
    arrive(stream, 100, 20);
    // the third pack waits for none, as the first one's four atoms are all in flight
    EXPECT_EQ(later_requests(stream).size(), 12U);
    taken = {Cycles(1000), Cycles(1004), Cycles(1008), Cycles(1012)};
    EXPECT_EQ(stream.next_burst()->ready, Cycles(1032));
}

TEST(SdpStream, a_pack_of_one_beat_at_the_end_of_a_line_follows_the_one_before_at_once) {
    const std::vector<Cycles> taken{Cycles(1000), Cycles(1010), Cycles(1020)};
    SdpStream stream(SdpConfig{}, packed_plan(3, 5), taken);
    arrive(stream, 100, 11);
    const std::vector<Cycles> times = later_requests(stream);
    ASSERT_EQ(times.size(), 11U);
    EXPECT_EQ(times[8], Cycles(124));   // the last of the second line's first pack
    EXPECT_EQ(times[9], Cycles(1030));  // the operand before it has left with the second atom
    EXPECT_EQ(times[10], Cycles(1031));
}

TEST(SdpStream, a_pack_of_one_beat_that_comes_late_waits_for_an_operand) {
    const std::vector<Cycles> taken{Cycles(1000), Cycles(1010), Cycles(1020)};
    SdpStream stream(SdpConfig{}, packed_plan(3, 5), taken);
    arrive(stream, 100, 9);
    arrive(stream, 1015, 2);
    const std::vector<Cycles> times = later_requests(stream);
    ASSERT_EQ(times.size(), 11U);
    EXPECT_EQ(times[9], Cycles(1031));
    EXPECT_EQ(times[10], Cycles(1040));
}

}  // namespace
}  // namespace npuscope
