// SPDX-License-Identifier: Apache-2.0
#include "sim/run/timeline_recorder.h"

#include <algorithm>
#include <utility>

#include "models/base/check.h"

namespace npuscope {
namespace {

/// `npu.csc.sequence` is reported as `csc.sequence`: there is one NPU.
std::string lane_name(const std::string& activity) {
    constexpr std::string_view prefix = "npu.";
    return activity.starts_with(prefix) ? activity.substr(prefix.size()) : activity;
}

std::string_view reason_of(WaitKind kind) {
    switch (kind) {
        case WaitKind::Idle:
            return "idle";
        case WaitKind::Starved:
            return "starved";
        case WaitKind::Blocked:
            return "blocked";
        case WaitKind::Ahead:
            break;
    }
    NPU_CHECK(false, "a wait is idle, starved or blocked");
    return {};
}

/// A unit may report work ahead of its time, and the waits before that work afterwards. Work takes
/// precedence: waits keep what is left of them. False if nothing is left of the new span.
bool make_room(std::vector<TimelineSpan>& lane, TimelineSpan& span) {
    while (span.reason == "work" && !lane.empty() && lane.back().reason != "work" &&
           lane.back().end > span.begin) {
        lane.back().end = std::max(span.begin, lane.back().begin);
        if (lane.back().begin < lane.back().end) {
            break;
        }
        lane.pop_back();
    }
    if (!lane.empty()) {
        span.begin = std::max(span.begin, lane.back().end);
    }
    return span.begin < span.end;
}

/// The name of the joined span of two neighbours: their common name if they have one, else that of
/// the longer one.
TimelineSpan joined(const TimelineSpan& first, const TimelineSpan& second) {
    TimelineSpan span = first.end - first.begin >= second.end - second.begin ? first : second;
    span.begin = first.begin;
    span.end = second.end;
    return span;
}

}  // namespace

void TimelineRecorder::worked(const std::string& activity, Span span) {
    add(activity, {"work", "work", span.begin, span.end});
}

void TimelineRecorder::waited(const std::string& activity, WaitKind kind, std::string_view what,
                              Span span) {
    if (kind != WaitKind::Idle) {
        add(activity, {std::string(what), std::string(reason_of(kind)), span.begin, span.end});
    }
}

void TimelineRecorder::add(const std::string& activity, TimelineSpan span) {
    std::vector<TimelineSpan>& lane = timeline_.lanes[lane_name(activity)];
    if (lane.size() >= most_spans_) {
        coarsen(lane);
    }
    if (!make_room(lane, span)) {
        return;
    }
    const bool continues = !lane.empty() && lane.back().end == span.begin &&
                           lane.back().reason == span.reason && lane.back().name == span.name &&
                           span.reason != "work";
    if (continues) {
        lane.back().end = span.end;
    } else {
        lane.push_back(std::move(span));
    }
}

void TimelineRecorder::coarsen(std::vector<TimelineSpan>& lane) const {
    const Cycles whole = lane.back().end - lane.front().begin;
    const Cycles least(std::max<std::uint64_t>(1, whole.value / (most_spans_ / 4 + 1)));
    std::vector<TimelineSpan> coarse;
    for (TimelineSpan& span : lane) {
        const bool join = !coarse.empty() && coarse.back().end - coarse.back().begin < least &&
                          span.end - span.begin < least;
        if (join) {
            coarse.back() = joined(coarse.back(), span);
        } else {
            coarse.push_back(std::move(span));
        }
    }
    lane = std::move(coarse);
}

void TimelineRecorder::counted(const std::string& counter, Cycles time, std::int64_t change) {
    changes_[counter].push_back({time, change, false});
}

void TimelineRecorder::restarted(const std::string& counter, Cycles time, std::int64_t value) {
    changes_[counter].push_back({time, value, true});
}

Timeline TimelineRecorder::take() {
    for (auto& [counter, changes] : changes_) {
        // some were reported ahead of their time
        std::ranges::stable_sort(changes, {}, &Change::time);
        std::vector<TimelineStep>& steps = timeline_.counters[counter];
        std::int64_t value = 0;
        for (const Change& change : changes) {
            value = change.restart ? change.amount : value + change.amount;
            if (!steps.empty() && steps.back().time == change.time) {
                steps.back().value = value;
            } else {
                steps.push_back({change.time, value});
            }
        }
    }
    changes_.clear();
    return std::exchange(timeline_, {});
}

}  // namespace npuscope
