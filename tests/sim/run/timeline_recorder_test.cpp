// SPDX-License-Identifier: Apache-2.0
#include "sim/run/timeline_recorder.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

TEST(TimelineRecorder, KeepsWorkAndWaitsOfEachActivity) {
    TimelineRecorder recorder;
    recorder.worked("npu.csc.sequence", {Cycles(10), Cycles(20)});
    recorder.waited("npu.csc.sequence", WaitKind::Blocked, "credits", {Cycles(20), Cycles(25)});
    const Timeline timeline = recorder.take();
    ASSERT_EQ(timeline.lanes.count("csc.sequence"), 1U);
    const auto& lane = timeline.lanes.at("csc.sequence");
    ASSERT_EQ(lane.size(), 2U);
    EXPECT_EQ(lane[0].reason, "work");
    EXPECT_EQ(lane[1].name, "credits");
    EXPECT_EQ(lane[1].reason, "blocked");
    EXPECT_EQ(lane[1].end, Cycles(25));
}

TEST(TimelineRecorder, IdleTimeIsNoSpan) {
    TimelineRecorder recorder;
    recorder.waited("a", WaitKind::Idle, "launches", {Cycles(0), Cycles(9)});
    EXPECT_EQ(recorder.take().spans(), 0U);
}

TEST(TimelineRecorder, WaitThatGoesOnIsOneSpan) {
    TimelineRecorder recorder;
    recorder.waited("a", WaitKind::Starved, "data", {Cycles(0), Cycles(9)});
    recorder.waited("a", WaitKind::Starved, "data", {Cycles(9), Cycles(12)});
    recorder.waited("a", WaitKind::Starved, "data", {Cycles(13), Cycles(14)});
    EXPECT_EQ(recorder.take().spans(), 2U);
}

TEST(TimelineRecorder, WaitsKeepWhatWorkToldAheadLeavesOfThem) {
    TimelineRecorder recorder;
    recorder.worked("a", {Cycles(0), Cycles(10)});  // reported in cycle 0
    recorder.waited("a", WaitKind::Blocked, "x", {Cycles(4), Cycles(16)});
    recorder.worked("a", {Cycles(14), Cycles(20)});
    recorder.waited("a", WaitKind::Blocked, "x", {Cycles(15), Cycles(18)});
    const Timeline timeline = recorder.take();
    const auto& lane = timeline.lanes.at("a");
    ASSERT_EQ(lane.size(), 3U);
    EXPECT_EQ(lane[1].begin, Cycles(10));
    EXPECT_EQ(lane[1].end, Cycles(14));
    EXPECT_EQ(lane[2].end, Cycles(20));
}

TEST(TimelineRecorder, CounterStepsInTheOrderOfTime) {
    TimelineRecorder recorder;
    recorder.restarted("cbuf.data", Cycles(5), 0);
    recorder.counted("cbuf.data", Cycles(30), -4);  // reported ahead of its time
    recorder.counted("cbuf.data", Cycles(10), 3);
    recorder.counted("cbuf.data", Cycles(10), 1);
    recorder.counted("cbuf.data", Cycles(20), 2);
    const auto steps = recorder.take().counters.at("cbuf.data");
    ASSERT_EQ(steps.size(), 4U);
    EXPECT_EQ(steps[1].time, Cycles(10));
    EXPECT_EQ(steps[1].value, 4);
    EXPECT_EQ(steps[2].value, 6);
    EXPECT_EQ(steps[3].value, 2);
}

TEST(TimelineRecorder, LongLaneIsBoundedAndKeepsItsSpan) {
    constexpr std::size_t most = 100;
    TimelineRecorder recorder(most);
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        recorder.worked("a", {Cycles(10 * i), Cycles(10 * i + 8)});
        recorder.waited("a", WaitKind::Blocked, "x", {Cycles(10 * i + 8), Cycles(10 * i + 10)});
    }
    const Timeline timeline = recorder.take();
    const auto& lane = timeline.lanes.at("a");
    EXPECT_LE(lane.size(), most);
    EXPECT_GE(lane.size(), most / 8);
    EXPECT_EQ(lane.front().begin, Cycles(0));
    EXPECT_EQ(lane.back().end, Cycles(100'000));
    for (std::size_t i = 1; i < lane.size(); ++i) {
        EXPECT_LE(lane[i - 1].end, lane[i].begin);
    }
}

}  // namespace
}  // namespace npuscope
