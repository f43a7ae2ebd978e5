// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "sim/report/reports.h"
#include "tests/sim/run/sample_result.h"

namespace npuscope::timeline_report_test {
namespace {

using Json = nlohmann::json;

Json events_of(const Result& result) { return Json::parse(timeline_report(result))["traceEvents"]; }

std::vector<Json> events_with(const Json& events, const std::string& phase) {
    std::vector<Json> found;
    for (const Json& event : events) {
        if (event["ph"] == phase) {
            found.push_back(event);
        }
    }
    return found;
}

std::pair<int, int> lane_of(const Json& event) {
    return {event["pid"].get<int>(), event["tid"].get<int>()};
}

Result with_timeline() {
    Result result = sample::result();
    result.timeline.emplace();
    result.timeline->lanes["csc.sequence"] = {
        {"cbuf.data (filled)", "starved", Cycles(100), Cycles(150)},
        {"work", "work", Cycles(150), Cycles(400)}};
    result.timeline->counters["cbuf.data"] = {{Cycles(120), 64}, {Cycles(400), 0}};
    return result;
}

TEST(TimelineReport, OperationIsACompleteEventWithItsCauses) {
    const auto events = events_with(events_of(sample::result()), "X");
    ASSERT_EQ(events.size(), 1U);
    EXPECT_EQ(events[0]["name"], "conv 0");
    EXPECT_EQ(events[0]["ts"], 100);
    EXPECT_EQ(events[0]["dur"], 53900);
    EXPECT_EQ(events[0]["cat"], "mac");
    EXPECT_EQ(events[0]["args"]["sdp_drain"], 13900);
}

TEST(TimelineReport, WaitIsNamedForWhatWasMissing) {
    const auto events = events_with(events_of(with_timeline()), "X");
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(events[1]["name"], "cbuf.data (filled)");
    EXPECT_EQ(events[1]["cat"], "starved");
    EXPECT_EQ(events[1]["dur"], 50);
    EXPECT_EQ(events[2]["cat"], "work");
}

TEST(TimelineReport, EveryLaneOfAnEventHasAName) {
    const Json events = events_of(with_timeline());
    std::set<std::pair<int, int>> named;
    for (const Json& event : events_with(events, "M")) {
        if (event["name"] == "thread_name") {
            named.insert(lane_of(event));
        }
    }
    for (const Json& event : events_with(events, "X")) {
        EXPECT_TRUE(named.contains(lane_of(event))) << event;
    }
}

TEST(TimelineReport, CounterIsAnEventForEachStep) {
    const auto events = events_with(events_of(with_timeline()), "C");
    ASSERT_EQ(events.size(), 2U);
    EXPECT_EQ(events[0]["name"], "cbuf.data");
    EXPECT_EQ(events[0]["ts"], 120);
    EXPECT_EQ(events[0]["args"]["entries"], 64);
}

TEST(TimelineReport, OperationsOfOnePipelineThatOverlapHaveLanesOfTheirOwn) {
    Result result = sample::result();
    result.operations.push_back(result.operations[0]);
    result.operations[1].start = Cycles(53000);
    result.operations[1].end = Cycles(60000);
    result.operations.push_back(result.operations[1]);
    result.operations[2].start = Cycles(54000);
    const auto events = events_with(events_of(result), "X");
    ASSERT_EQ(events.size(), 3U);
    EXPECT_NE(events[0]["tid"], events[1]["tid"]);
    EXPECT_EQ(events[0]["tid"], events[2]["tid"]);
}

}  // namespace
}  // namespace npuscope::timeline_report_test
