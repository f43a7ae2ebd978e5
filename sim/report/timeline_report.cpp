// SPDX-License-Identifier: Apache-2.0
// A run's timeline in the Trace Event Format that Chrome (about:tracing) and Perfetto show. A cycle
// is shown as a microsecond.
//
//   process "operations"   one lane per pipeline: complete events ("X") with the causes of their
//                          cycles, cycles per cause, MACs, and the layer that they belong to
//   process "layers"       from the start of a layer's first operation to the end of its last
//   process "units"        one lane per activity: work, and waits named for what was missing;
//                          `cat` is work, starved or blocked
//   counters ("C")         filled entries of the convolution buffer
//   process "bandwidth"    GB/s that each client of the memory interface read and wrote, by windows
//                          that fit the run's length; a run of memory counts where it begins
//
// source: "Trace Event Format", Google
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "sim/config/json_writer.h"
#include "sim/report/reports.h"

namespace npuscope {
namespace {

constexpr int operations_process = 1;
constexpr int units_process = 2;
constexpr int layers_process = 3;
constexpr int bandwidth_process = 4;

/// Events become text at once: a JSON document of all of them would be many times as large.
class EventList {
 public:
    void add(const Json& event) {
        text_ += text_.empty() ? "\n" : ",\n";
        text_ += event.dump(-1, ' ', true, Json::error_handler_t::replace);
    }
    const std::string& text() const { return text_; }

 private:
    std::string text_;
};

void name_process(EventList& events, int process, const char* name) {
    events.add(
        {{"ph", "M"}, {"pid", process}, {"name", "process_name"}, {"args", {{"name", name}}}});
}

void name_lane(EventList& events, int process, int lane, const std::string& name) {
    events.add({{"ph", "M"},
                {"pid", process},
                {"tid", lane},
                {"name", "thread_name"},
                {"args", {{"name", name}}}});
}

Json arguments_of(const OperationRecord& operation) {
    Json arguments = Json::object();
    for (std::size_t i = 0; i < cause_names.size(); ++i) {
        if (operation.causes.cycles[i].value != 0) {
            arguments[std::string(cause_names[i])] = operation.causes.cycles[i].value;
        }
    }
    arguments["cycles"] = operation.cycles().value;
    arguments["macs"] = operation.macs;
    return arguments;
}

/// By operation; empty if it belongs to none.
std::vector<std::string> layer_names(const Result& result) {
    std::vector<std::string> names(result.operations.size());
    for (const LayerRecord& layer : result.layers) {
        for (const std::size_t operation : layer.operations) {
            names.at(operation) = layer.name;
        }
    }
    return names;
}

/// Operations of one pipeline may overlap if both register groups are in use: each starts in the
/// first free lane.
void add_operations(EventList& events, const Result& result) {
    struct Lane {
        std::string unit;
        Cycles free;
    };
    std::vector<Lane> lanes;
    const std::vector<std::string> layers = layer_names(result);
    std::vector<std::size_t> by_start(result.operations.size());
    std::iota(by_start.begin(), by_start.end(), std::size_t{0});
    std::ranges::stable_sort(by_start, {},
                             [&](std::size_t i) { return result.operations[i].start; });
    for (const std::size_t index : by_start) {
        const OperationRecord& operation = result.operations[index];
        auto lane = std::ranges::find_if(lanes, [&](const Lane& candidate) {
            return candidate.unit == operation.unit && candidate.free <= operation.start;
        });
        const auto number = static_cast<int>(lane - lanes.begin()) + 1;
        if (lane == lanes.end()) {
            lane = lanes.insert(lane, {operation.unit, {}});
            name_lane(events, operations_process, number, operation.unit);
        }
        lane->free = operation.end;
        Json arguments = arguments_of(operation);
        if (!layers[index].empty()) {
            arguments["layer"] = layers[index];
        }
        events.add({{"ph", "X"},
                    {"pid", operations_process},
                    {"tid", number},
                    {"ts", operation.start.value},
                    {"dur", operation.cycles().value},
                    {"name", layers[index].empty() ? operation.name
                                                   : operation.name + ", " + layers[index]},
                    {"cat", operation.causes.largest()},
                    {"args", std::move(arguments)}});
    }
}

/// From the start of its first operation to the end of its last: layers may overlap.
void add_layers(EventList& events, const Result& result) {
    for (std::size_t i = 0; i < result.layers.size(); ++i) {
        const LayerRecord& layer = result.layers[i];
        if (layer.operations.empty()) {
            continue;
        }
        Cycles begin = result.operations.at(layer.operations.front()).start;
        Cycles end;
        for (const std::size_t operation : layer.operations) {
            begin = std::min(begin, result.operations.at(operation).start);
            end = std::max(end, result.operations.at(operation).end);
        }
        events.add({{"ph", "X"},
                    {"pid", layers_process},
                    {"tid", 1 + i % 2},  // neighbours overlap
                    {"ts", begin.value},
                    {"dur", (end - begin).value},
                    {"name", layer.name},
                    {"cat", layer.causes.largest()},
                    {"args", {{"cycles", layer.cycles().value}, {"useful_macs", layer.macs}}}});
    }
}

void add_lanes(EventList& events, const Timeline& timeline) {
    int lane = 0;
    for (const auto& [name, spans] : timeline.lanes) {
        name_lane(events, units_process, ++lane, name);
        for (const TimelineSpan& span : spans) {
            events.add({{"ph", "X"},
                        {"pid", units_process},
                        {"tid", lane},
                        {"ts", span.begin.value},
                        {"dur", (span.end - span.begin).value},
                        {"name", span.name},
                        {"cat", span.reason}});
        }
    }
}

void add_counters(EventList& events, const Timeline& timeline) {
    for (const auto& [name, steps] : timeline.counters) {
        for (const TimelineStep& step : steps) {
            events.add({{"ph", "C"},
                        {"pid", units_process},
                        {"ts", step.time.value},
                        {"name", name},
                        {"args", {{"entries", step.value}}}});
        }
    }
}

/// For every client and direction, in each window between two samples.
void add_bandwidth(EventList& events, const Timeline& timeline, double clock) {
    const auto add = [&events](const std::string& name, Cycles time, double rate) {
        events.add({{"ph", "C"},
                    {"pid", bandwidth_process},
                    {"ts", time.value},
                    {"name", name},
                    {"args", {{"GB/s", std::round(rate * 1000) / 1000}}}});
    };
    for (const auto& [name, steps] : timeline.moved) {
        for (const Bandwidth& window : bandwidth_of(steps)) {
            add(name, window.begin, window.bytes_per_cycle * clock / 1e9);
        }
    }
}

}  // namespace

std::vector<Bandwidth> bandwidth_of(const std::vector<TimelineStep>& moved) {
    std::vector<Bandwidth> windows;
    for (std::size_t i = 0; i + 1 < moved.size(); ++i) {
        const auto bytes = static_cast<double>(moved[i + 1].value - moved[i].value);
        const auto cycles = static_cast<double>((moved[i + 1].time - moved[i].time).value);
        windows.push_back({moved[i].time, bytes / cycles});
    }
    windows.push_back({moved.back().time, 0});
    return windows;
}

std::string timeline_report(const Result& result) {
    EventList events;
    name_process(events, operations_process, "operations");
    name_process(events, units_process, "units");
    add_operations(events, result);
    if (!result.layers.empty()) {
        name_process(events, layers_process, "layers");
        name_lane(events, layers_process, 1, "layers");
        name_lane(events, layers_process, 2, "layers");
        add_layers(events, result);
    }
    if (result.timeline) {
        add_lanes(events, *result.timeline);
        add_counters(events, *result.timeline);
        name_process(events, bandwidth_process, "bandwidth, GB/s");
        add_bandwidth(events, *result.timeline, static_cast<double>(result.config.clock().value));
    }
    const Json other{{"program", result.program},
                     {"npu", result.npu()},
                     {"cycles", result.cycles.value},
                     {"cycles_per_microsecond", 1}};
    return "{\"displayTimeUnit\": \"ns\",\n\"otherData\": " +
           other.dump(-1, ' ', true, Json::error_handler_t::replace) + ",\n\"traceEvents\": [" +
           events.text() + "\n]}\n";
}

}  // namespace npuscope
