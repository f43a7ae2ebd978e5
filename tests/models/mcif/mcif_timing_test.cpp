// SPDX-License-Identifier: Apache-2.0
#include "models/mcif/mcif_timing.h"

#include <gtest/gtest.h>

#include <random>

namespace npuscope {
namespace {

constexpr std::uint64_t one_cycle = ticks_per_cycle;

TEST(ReadArbiter, gives_a_lone_client_a_beat_a_cycle) {
    ReadArbiter arbiter;
    const auto flow = arbiter.open(Cycles(100), 7, one_cycle);
    EXPECT_EQ(arbiter.finish_time(flow), Cycles(107));
    EXPECT_FALSE(arbiter.finished(Cycles(106), flow));
    EXPECT_TRUE(arbiter.finished(Cycles(107), flow));
}

TEST(ReadArbiter, alternates_between_two_clients) {
    ReadArbiter arbiter;
    const auto first = arbiter.open(Cycles(0), 4, one_cycle);
    const auto second = arbiter.open(Cycles(0), 10, one_cycle);
    EXPECT_EQ(arbiter.finish_time(first), Cycles(7));
    EXPECT_TRUE(arbiter.finished(Cycles(7), first));
    // three beats of the second went by; the rest has the channel for itself
    EXPECT_EQ(arbiter.finish_time(second), Cycles(14));
    EXPECT_FALSE(arbiter.finished(Cycles(13), second));
    EXPECT_TRUE(arbiter.finished(Cycles(14), second));
}

TEST(ReadArbiter, agrees_with_a_beat_by_beat_round_robin) {
    std::mt19937 random(7);
    for (int scene = 0; scene < 200; ++scene) {
        ReadArbiter arbiter;
        const std::uint64_t interval = 1 + random() % 4;
        const std::vector<std::uint64_t> beats{1 + random() % 40, 1 + random() % 40,
                                               1 + random() % 40};
        std::vector<ReadArbiter::FlowId> flows;
        for (const std::uint64_t n : beats) {
            flows.push_back(arbiter.open(Cycles(0), n, interval * one_cycle));
        }
        std::vector<std::uint64_t> remaining = beats;
        std::vector<Cycles> expected(3);
        Cycles time(0);
        while (remaining[0] + remaining[1] + remaining[2] > 0) {
            for (std::size_t i = 0; i < 3; ++i) {
                if (remaining[i] > 0) {
                    time += Cycles(interval);
                    if (--remaining[i] == 0) {
                        expected[i] = time;
                    }
                }
            }
        }
        for (std::size_t i = 0; i < 3; ++i) {
            ReadArbiter copy = arbiter;
            EXPECT_FALSE(copy.finished(expected[i] - Cycles(1), flows[i]));
            EXPECT_TRUE(copy.finished(expected[i], flows[i]));
        }
    }
}

TEST(ReadArbiter, is_slowed_by_latency_that_the_reads_in_flight_do_not_cover) {
    EXPECT_EQ(ticks_per_beat(Cycles(1), Cycles(51), 256), one_cycle);
    EXPECT_EQ(ticks_per_beat(Cycles(4), Cycles(51), 256), 4 * one_cycle);
    EXPECT_EQ(ticks_per_beat(Cycles(1), Cycles(512), 256), 2 * one_cycle);
}

}  // namespace
}  // namespace npuscope
