// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/conv/compressed_stream.h"

namespace npuscope {
namespace {

/// Two groups: masks of 100 and 150 bytes, values of 1000 and 500, ends padded to 128.
CompressedFetch two_groups(const ReleaseLedger& releases) {
    return {.weights = Address(0x10000),
            .mask = Address(0x20000),
            .sizes = Address(0x30000),
            .weight_ends = {1000, 1536},
            .mask_ends = {100, 256},
            .beat = Bytes(64),
            .entry = Bytes(128),
            .start = Cycles(100),
            .weight_room = {&releases, 64, 0},
            .mask_room = {&releases, 64, 0}};
}

/// All bursts of a stream, each answered at once.
std::vector<ReadBurst> drain(CompressedWeightStream& stream) {
    std::vector<ReadBurst> bursts;
    for (std::uint64_t beats = 0; beats < stream.beats(); beats += bursts.back().beats) {
        bursts.push_back(*stream.next_burst());
        std::vector<Cycles> times(bursts.back().beats);
        for (std::size_t i = 0; i < times.size(); ++i) {
            times[i] = bursts.back().ready + Cycles(51 + i);
        }
        stream.arrived(times);
    }
    return bursts;
}

TEST(CompressedTiming, ReadsSizesThenMaskAndValuesInTurns) {
    const ReleaseLedger releases;
    CompressedFetch fetch = two_groups(releases);
    fetch.mask_ends = {600, 1280};  // five pieces: a turn has four
    CompressedWeightStream stream({}, fetch);
    std::vector<Address> runs;
    Bytes total;
    for (const ReadBurst& burst : drain(stream)) {
        runs.push_back(burst.run->address);
        total += burst.run->bytes;
    }
    ASSERT_EQ(runs.size(), 1U + 5 + 6);
    EXPECT_EQ(runs[0], Address(0x30000));
    EXPECT_EQ(runs[1], Address(0x20000));
    EXPECT_EQ(runs[4], Address(0x20300));
    EXPECT_EQ(runs[5], Address(0x10000));
    EXPECT_EQ(runs[11], Address(0x20400));
    // bytes read: one atom of sizes, mask and values with the zeros at their ends
    EXPECT_EQ(total, Bytes(32 + 1280 + 1536));
    EXPECT_EQ(stream.group_end(0), 1U + 4 * 4 + 16);
    EXPECT_LT(stream.group_written(0), stream.group_written(1));
}

TEST(CompressedTiming, NoResponseIsTakenWhileSizesAreUnpacked) {
    const ReleaseLedger releases;
    CompressedFetch fetch = two_groups(releases);
    fetch.weight_ends = {128, 256};
    CompressedWeightStream stream({}, fetch);
    for (std::size_t piece = 0; piece < 3; ++piece) {
        ASSERT_TRUE(stream.next_burst());
    }
    const std::vector<Cycles> times(stream.beats(), Cycles(500));
    stream.arrived(times);
    // the atom of sizes, two cycles for two groups, four beats of the mask, two of the first group
    EXPECT_EQ(stream.group_end(0), 7U);
    EXPECT_EQ(stream.group_written(0), Cycles(500 + 2 + 6) + CdmaConfig{}.weight_write);
}

TEST(CompressedTiming, AGroupWithoutRoomWaitsUntilItIsReleased) {
    ReleaseLedger releases;
    CompressedFetch fetch = two_groups(releases);
    fetch.weight_room.capacity = 8;  // the first group's entries
    CompressedWeightStream stream({}, fetch);
    std::uint64_t beats = 0;
    std::optional<ReadBurst> burst;
    while ((burst = stream.next_burst())) {
        beats += burst->beats;
    }
    EXPECT_EQ(beats, 1U + 4 + 16);
    EXPECT_TRUE(stream.waited_for_room(1));
    EXPECT_FALSE(stream.waited_for_room(0));
    releases.release(Cycles(5000), 8);
    burst = stream.next_burst();
    ASSERT_TRUE(burst);
    EXPECT_EQ(burst->ready, Cycles(5000));
}

TEST(CompressedTiming, AGroupOfZerosComesWithItsMask) {
    const ReleaseLedger releases;
    CompressedFetch fetch = two_groups(releases);
    fetch.weight_ends = {0, 128};
    CompressedWeightStream stream({}, fetch);
    drain(stream);
    EXPECT_EQ(stream.group_end(0), 3U);  // the atom of sizes and an entry of the mask
    EXPECT_GT(stream.group_written(0), Cycles(100));
}

}  // namespace
}  // namespace npuscope
