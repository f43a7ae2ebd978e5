// SPDX-License-Identifier: Apache-2.0
// A run's timeline as a value change dump, for GTKWave and other waveform viewers. Time is in
// picoseconds of the NPU's clock.
//
//   npuscope.units.UNIT.ACTIVITY   three wires: `work`, `starved`, `blocked`; none is set
//                                  if the activity has nothing to do
//   npuscope.operations.UNIT       `index` in the result's table of the running operation, all ones
//                                  if there is none; `running`: how many, of both register groups
//   npuscope.buffers               filled entries
//   npuscope.memory.CLIENT         `read` and `write`: bytes per cycle, by the timeline's windows
//
// source: IEEE Std 1364-2005, clause 18
#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cctype>
#include <map>
#include <utility>
#include <vector>

#include "sim/report/reports.h"

namespace npuscope {
namespace {

/// A name that is legal in a dump: no blank, no dot.
std::string identifier(std::string name) {
    std::ranges::replace_if(
        name, [](unsigned char letter) { return std::isalnum(letter) == 0; }, '_');
    return name;
}

/// Signals in scopes, and their values over time.
class WaveDump {
 public:
    enum class Kind { Wire, Integer, Real };

    /// `path`: scopes, the signal's own name last. Returns the number for `change`.
    std::size_t add(const std::vector<std::string>& path, Kind kind) {
        signals_.push_back({kind, {}});
        Scope* scope = &root_;
        for (std::size_t i = 0; i + 1 < path.size(); ++i) {
            scope = &scope->scopes[identifier(path[i])];
        }
        scope->signals.emplace_back(identifier(path.back()), signals_.size() - 1);
        return signals_.size() - 1;
    }
    /// The last change of a cycle counts.
    void change(std::size_t signal, Cycles time, double value) {
        signals_[signal].values[time.value] = value;
    }

    std::string text(double clock, const std::string& comment) const {
        std::string text = fmt::format("$comment {} $end\n$timescale 1ps $end\n", comment);
        define(root_, "npuscope", text);
        text += "$enddefinitions $end\n";
        std::map<std::uint64_t, std::string> changes;
        for (std::size_t i = 0; i < signals_.size(); ++i) {
            changes[0] +=
                signals_[i].values.contains(0) ? "" : value_of(i, rest_of(signals_[i].kind));
            for (const auto& [cycle, value] : signals_[i].values) {
                changes[cycle] += value_of(i, value);
            }
        }
        for (const auto& [cycle, values] : changes) {
            const double picoseconds = static_cast<double>(cycle) * 1e12 / clock;
            text += fmt::format("#{:.0f}\n{}", picoseconds, values);
        }
        return text;
    }

    /// For an integer: no operation.
    static constexpr double none = -1;

 private:
    struct Signal {
        Kind kind;
        std::map<std::uint64_t, double> values;  ///< by cycle
    };
    struct Scope {
        std::map<std::string, Scope> scopes;
        std::vector<std::pair<std::string, std::size_t>> signals;
    };

    static double rest_of(Kind kind) { return kind == Kind::Integer ? none : 0; }

    /// The short name of a signal: a number in the base of the printable characters.
    static std::string code(std::size_t signal) {
        constexpr std::size_t letters = 94;
        std::string text;
        do {
            text += static_cast<char>('!' + signal % letters);
            signal /= letters;
        } while (signal > 0);
        return text;
    }

    std::string value_of(std::size_t signal, double value) const {
        switch (signals_[signal].kind) {
            case Kind::Wire:
                return fmt::format("{}{}\n", value != 0 ? 1 : 0, code(signal));
            case Kind::Integer:
                return fmt::format(
                    "b{} {}\n",
                    std::bitset<32>(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)))
                        .to_string(),
                    code(signal));
            case Kind::Real:
                break;
        }
        return fmt::format("r{:.6g} {}\n", value, code(signal));
    }

    void define(const Scope& scope, const std::string& name, std::string& text) const {
        text += fmt::format("$scope module {} $end\n", name);
        for (const auto& [signal, number] : scope.signals) {
            switch (signals_[number].kind) {
                case Kind::Wire:
                    text += fmt::format("$var wire 1 {} {} $end\n", code(number), signal);
                    break;
                case Kind::Integer:
                    text += fmt::format("$var wire 32 {} {} [31:0] $end\n", code(number), signal);
                    break;
                case Kind::Real:
                    text += fmt::format("$var real 64 {} {} $end\n", code(number), signal);
                    break;
            }
        }
        for (const auto& [inner, below] : scope.scopes) {
            define(below, inner, text);
        }
        text += "$upscope $end\n";
    }

    Scope root_;
    std::vector<Signal> signals_;
};

/// `unit.activity` as its parts.
std::vector<std::string> path_of(const std::string& lane) {
    const std::size_t dot = lane.find('.');
    if (dot == std::string::npos) {
        return {"units", lane};
    }
    return {"units", lane.substr(0, dot), lane.substr(dot + 1)};
}

void add_lanes(WaveDump& dump, const Timeline& timeline) {
    for (const auto& [lane, spans] : timeline.lanes) {
        std::vector<std::string> path = path_of(lane);
        path.emplace_back();
        std::map<std::string, std::size_t> wires;
        for (const char* reason : {"work", "starved", "blocked"}) {
            path.back() = reason;
            wires[reason] = dump.add(path, WaveDump::Kind::Wire);
        }
        for (const TimelineSpan& span : spans) {
            const std::size_t wire = wires.at(span.reason);
            dump.change(wire, span.begin, 1);
            dump.change(wire, span.end, 0);
        }
    }
}

void add_operations(WaveDump& dump, const Result& result) {
    struct Event {
        Cycles time;
        bool begins;
        std::size_t index;
    };
    std::map<std::string, std::vector<Event>> units;
    for (std::size_t i = 0; i < result.operations.size(); ++i) {
        const OperationRecord& operation = result.operations[i];
        units[operation.unit].push_back({operation.start, true, i});
        units[operation.unit].push_back({operation.end, false, i});
    }
    for (auto& [unit, events] : units) {
        std::ranges::stable_sort(events, {}, &Event::time);
        const std::size_t index = dump.add({"operations", unit, "index"}, WaveDump::Kind::Integer);
        const std::size_t running =
            dump.add({"operations", unit, "running"}, WaveDump::Kind::Integer);
        dump.change(running, Cycles(0), 0);
        std::vector<std::size_t> open;
        for (const Event& event : events) {
            if (event.begins) {
                open.push_back(event.index);
            } else {
                std::erase(open, event.index);
            }
            // of two that run at once, the older one is shown
            dump.change(index, event.time,
                        open.empty() ? WaveDump::none : static_cast<double>(open.front()));
            dump.change(running, event.time, static_cast<double>(open.size()));
        }
    }
}

void add_counters(WaveDump& dump, const Timeline& timeline) {
    for (const auto& [name, steps] : timeline.counters) {
        const std::size_t signal = dump.add({"buffers", name}, WaveDump::Kind::Integer);
        dump.change(signal, Cycles(0), 0);
        for (const TimelineStep& step : steps) {
            dump.change(signal, step.time, static_cast<double>(step.value));
        }
    }
}

void add_bandwidth(WaveDump& dump, const Timeline& timeline) {
    for (const auto& [name, steps] : timeline.moved) {
        const std::size_t space = name.rfind(' ');
        const std::size_t signal = dump.add(
            {"memory", name.substr(0, space), name.substr(space + 1)}, WaveDump::Kind::Real);
        for (const Bandwidth& window : bandwidth_of(steps)) {
            dump.change(signal, window.begin, window.bytes_per_cycle);
        }
    }
}

}  // namespace

std::string wave_report(const Result& result) {
    WaveDump dump;
    add_operations(dump, result);
    if (result.timeline) {
        add_lanes(dump, *result.timeline);
        add_counters(dump, *result.timeline);
        add_bandwidth(dump, *result.timeline);
    }
    return dump.text(static_cast<double>(result.config.clock().value),
                     fmt::format("npuscope {}: {} on {}, {} cycles", result.version,
                                 identifier(result.program), result.npu(), result.cycles.value));
}

}  // namespace npuscope
