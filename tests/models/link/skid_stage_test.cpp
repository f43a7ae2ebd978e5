// SPDX-License-Identifier: Apache-2.0
#include "models/link/skid_stage.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

/// When the stage takes the second beat after one that was at its output from 101 to 105; the first
/// was offered in `first`.
Cycles taken_after_stall(SkidStage stage, Cycles first, Cycles second) {
    stage.passed(Cycles(100), Cycles(101), Cycles(105));
    const Cycles in = stage.accepts(first);
    stage.passed(in, stage.output(in), stage.output(in));
    return stage.accepts(second);
}

TEST(SkidStage, passes_a_beat_a_cycle_while_nothing_stands) {
    SkidStage stage;
    for (std::uint64_t time = 100; time < 110; ++time) {
        EXPECT_EQ(stage.accepts(Cycles(time)), Cycles(time));
        EXPECT_EQ(stage.output(Cycles(time)), Cycles(time + 1));
        stage.passed(Cycles(time), Cycles(time + 1), Cycles(time + 1));
    }
}

TEST(SkidStage, takes_one_beat_into_the_spare_register_and_the_next_after_the_stall) {
    for (const bool waits : {true, false}) {
        EXPECT_EQ(taken_after_stall(SkidStage(waits), Cycles(101), Cycles(102)), Cycles(106));
    }
}

TEST(SkidStage, that_waits_leaves_the_spare_register_empty_after_the_first_cycle_of_a_stall) {
    SkidStage waits;
    waits.passed(Cycles(100), Cycles(101), Cycles(105));
    EXPECT_EQ(waits.accepts(Cycles(101)), Cycles(101));
    EXPECT_EQ(waits.accepts(Cycles(102)), Cycles(106));
    SkidStage other(false);
    other.passed(Cycles(100), Cycles(101), Cycles(105));
    EXPECT_EQ(other.accepts(Cycles(102)), Cycles(102));
}

}  // namespace
}  // namespace npuscope
