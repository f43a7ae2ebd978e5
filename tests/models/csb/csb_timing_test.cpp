// SPDX-License-Identifier: Apache-2.0
// Streams of register accesses as the nv_small RTL accepts them, with equal clocks.
#include "models/csb/csb_timing.h"

#include <gtest/gtest.h>

#include <vector>

namespace npuscope {
namespace {

/// A host that presents its next access as soon as the previous one has been accepted.
std::vector<CsbAccessTimes> stream(CsbQueue& bus, Cycles start, int accesses) {
    std::vector<CsbAccessTimes> times;
    for (int i = 0; i < accesses; ++i) {
        times.push_back(bus.present(start));
        start = times.back().accepted;
    }
    return times;
}

CsbAccessTimes at(std::uint64_t accepted, std::uint64_t effect) {
    return {Cycles(accepted), Cycles(effect)};
}

TEST(CsbTiming, accepts_five_writes_at_once_and_then_four_every_nine_cycles) {
    CsbQueue bus(4, Cycles(9));
    EXPECT_EQ(
        stream(bus, Cycles(0), 14),
        (std::vector<CsbAccessTimes>{at(0, 0), at(1, 1), at(2, 2), at(3, 3), at(4, 9), at(10, 10),
                                     at(11, 11), at(12, 12), at(13, 18), at(19, 19), at(20, 20),
                                     at(21, 21), at(22, 27), at(28, 28)}));
}

TEST(CsbTiming, starts_the_pattern_anew_when_its_places_are_free_again) {
    CsbQueue early(4, Cycles(9));
    stream(early, Cycles(0), 4);
    EXPECT_EQ(early.present(Cycles(8)), at(8, 9));  // the first slot is free in cycle 9
    CsbQueue on_time(4, Cycles(9));
    stream(on_time, Cycles(0), 4);
    EXPECT_EQ(on_time.present(Cycles(9)), at(9, 9));
    CsbQueue idle(4, Cycles(9));
    stream(idle, Cycles(0), 4);
    EXPECT_EQ(stream(idle, Cycles(100), 6),
              (std::vector<CsbAccessTimes>{at(100, 100), at(101, 101), at(102, 102), at(103, 103),
                                           at(104, 109), at(110, 110)}));
}

TEST(CsbTiming, a_deeper_queue_takes_a_longer_stream_without_a_pause) {
    CsbQueue bus(16, Cycles(9));
    EXPECT_EQ(stream(bus, Cycles(0), 30).back(), at(29, 29));
}

}  // namespace
}  // namespace npuscope
