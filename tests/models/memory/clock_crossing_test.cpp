// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/memory/dram_controller.h"

namespace npuscope {
namespace {

TEST(ClockCrossing, changes_nothing_between_equal_clocks) {
    const ClockCrossing same(Hertz(800), Hertz(800));
    EXPECT_EQ(same.to_memory(Cycles(17)), Clocks(17));
    EXPECT_EQ(same.to_npu(Clocks(17)), Cycles(17));
}

TEST(ClockCrossing, takes_the_first_edge_that_does_not_lie_before) {
    const ClockCrossing crossing(Hertz(1'000'000'000), Hertz(1'200'000'000));
    EXPECT_EQ(crossing.to_memory(Cycles(5)), Clocks(6));
    EXPECT_EQ(crossing.to_memory(Cycles(6)), Clocks(8));  // 7.2
    EXPECT_EQ(crossing.to_npu(Clocks(6)), Cycles(5));
    EXPECT_EQ(crossing.to_npu(Clocks(7)), Cycles(6));  // 5.83
}

TEST(ClockCrossing, never_goes_back_in_time_there_and_back) {
    const ClockCrossing crossing(Hertz(1'066'666'667), Hertz(800'000'000));
    for (std::uint64_t cycle = 0; cycle < 5000; ++cycle) {
        const Cycles back = crossing.to_npu(crossing.to_memory(Cycles(cycle)));
        EXPECT_GE(back, Cycles(cycle));
        EXPECT_LE(back, Cycles(cycle + 2));
    }
}

TEST(ClockCrossing, holds_for_days_of_simulated_time) {
    const ClockCrossing crossing(Hertz(999'999'937), Hertz(1'600'000'009));
    const Cycles late(1'000'000'000'000'000);
    EXPECT_GE(crossing.to_npu(crossing.to_memory(late)), late);
    EXPECT_LE(crossing.to_npu(crossing.to_memory(late)), late + Cycles(1));
}

TEST(ClockCrossing, refuses_a_clock_that_stands_still) {
    EXPECT_THROW(ClockCrossing(Hertz(0), Hertz(1)), ConfigError);
    EXPECT_THROW(ClockCrossing(Hertz(1), Hertz(0)), ConfigError);
}

}  // namespace
}  // namespace npuscope
