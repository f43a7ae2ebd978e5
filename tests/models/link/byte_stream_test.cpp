// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "models/link/surface_port.h"

namespace npuscope::byte_stream_test {
namespace {

void arrive(ByteStream& stream, std::uint64_t first, std::uint64_t count) {
    std::vector<Cycles> times;
    for (std::uint64_t i = 0; i < count; ++i) {
        times.emplace_back(first + i);
    }
    stream.arrived(times);
}

TEST(ByteStream, asks_as_far_as_its_buffer_holds) {
    ByteStream stream({.first = Cycles(20), .buffer = 3}, {Address(0x100), Bytes(20)});
    EXPECT_EQ(stream.beats(), 5U);
    const auto burst = stream.next_burst();
    ASSERT_TRUE(burst && burst->run);
    EXPECT_EQ(burst->beats, 3U);
    EXPECT_EQ(burst->ready, Cycles(20));
    EXPECT_FALSE(stream.next_burst());
    arrive(stream, 30, 3);
    EXPECT_FALSE(stream.next_burst());  // nothing was taken
    EXPECT_EQ(stream.arrival(0), Cycles(30));
    stream.take(Cycles(40));
    EXPECT_EQ(stream.arrival(1), Cycles(31));
    stream.take(Cycles(45));
    const auto next = stream.next_burst();
    EXPECT_EQ(next->beats, 1U);  // the second slot is free later
    EXPECT_EQ(next->ready, Cycles(41));
    EXPECT_EQ(stream.next_burst()->ready, Cycles(46));
}

TEST(ByteStream, cuts_the_stretch_into_runs) {
    ByteStream stream({.first = Cycles(1), .buffer = 9, .run = 2}, {Address(0x102), Bytes(17)});
    EXPECT_EQ(stream.beats(), 5U);  // the first and the last are shared with others
    const auto run = [&] { return *stream.next_burst()->run; };
    EXPECT_EQ(run().address, Address(0x102));
    const ByteRun second = run();
    EXPECT_EQ(second.address, Address(0x108));
    EXPECT_EQ(second.bytes, Bytes(8));
    EXPECT_EQ(run().bytes, Bytes(3));
}

TEST(ByteStream, knows_the_beats_of_its_first_bytes) {
    const ByteStream stream({.first = Cycles(1)}, {Address(0x103), Bytes(9)});
    EXPECT_EQ(stream.beats_until(Bytes(1)), 1U);
    EXPECT_EQ(stream.beats_until(Bytes(2)), 2U);
    EXPECT_EQ(stream.beats_until(Bytes(9)), 3U);
}

}  // namespace
}  // namespace npuscope::byte_stream_test
