// SPDX-License-Identifier: Apache-2.0
#include "sim/run/joined_result.h"

#include <algorithm>
#include <iterator>

namespace npuscope {
namespace {

template <class T>
void append(std::vector<T>& all, std::vector<T>& part) {
    all.insert(all.end(), std::make_move_iterator(part.begin()),
               std::make_move_iterator(part.end()));
}

void add(DramStatistics& all, const DramStatistics& part) {
    using Count = std::uint64_t DramStatistics::*;
    for (const Count count :
         {&DramStatistics::read_bursts, &DramStatistics::write_bursts, &DramStatistics::row_hits,
          &DramStatistics::row_misses, &DramStatistics::row_conflicts, &DramStatistics::refreshes,
          &DramStatistics::turnarounds, &DramStatistics::merged_beats}) {
        all.*count += part.*count;
    }
}

void add(UnitStatistics& all, const UnitStatistics& part) {
    all.busy += part.busy;
    all.starved += part.starved;
    all.blocked += part.blocked;
}

void add(ClientTraffic& all, const ClientTraffic& part) { all += part; }

/// Entries of one name become one.
template <class Named, class Value>
void add_named(std::vector<Named>& all, const std::vector<Named>& part, std::string Named::*name,
               Value Named::*value) {
    for (const Named& one : part) {
        const auto found = std::ranges::find(all, one.*name, name);
        if (found == all.end()) {
            all.push_back(one);
        } else {
            add((*found).*value, one.*value);
        }
    }
}

}  // namespace

JoinedResult::JoinedResult(std::string program, const SystemConfig& system, bool timeline) {
    result_.program = std::move(program);
    result_.config = system;
    result_.model.emplace();
    if (timeline) {
        result_.timeline.emplace();
    }
}

void JoinedResult::add_segment(SegmentRecord segment, Result part) {
    segment.start = now() + part.first_op_enable;
    segment.cycles = part.cycles;
    result_.model->segments.push_back(std::move(segment));
    result_.values = result_.values && part.values;
    if (first_) {
        result_.first_op_enable = now() + part.first_op_enable;
        first_ = false;
    }
    for (OperationRecord& operation : part.operations) {
        operation.start += now();
        operation.end += now();
        if (operation.first_mac) {
            *operation.first_mac += now();
        }
    }
    append(result_.operations, part.operations);
    append(result_.checks, part.checks);
    append(result_.findings, part.findings);
    add_counts(part);
    if (part.timeline && result_.timeline) {
        add_timeline(*part.timeline);
    }
    result_.cycles += part.cycles;
    result_.simulated_cycles += part.simulated_cycles;
    result_.wall_seconds += part.wall_seconds;
}

void JoinedResult::add_counts(const Result& part) {
    add_named(result_.traffic, part.traffic, &NamedTraffic::client, &NamedTraffic::traffic);
    add_named(result_.units, part.units, &NamedUnit::unit, &NamedUnit::statistics);
    add_named(result_.drams, part.drams, &NamedDram::region, &NamedDram::statistics);
}

void JoinedResult::add_timeline(Timeline& part) {
    for (auto& [name, spans] : part.lanes) {
        for (TimelineSpan& span : spans) {
            span.begin += now();
            span.end += now();
        }
        append(result_.timeline->lanes[name], spans);
    }
    for (auto& [name, steps] : part.counters) {
        for (TimelineStep& step : steps) {
            step.time += now();
        }
        append(result_.timeline->counters[name], steps);
    }
}

void JoinedResult::add_operator(const std::string& name, const HostCost& cost) {
    OperationRecord operation;
    operation.unit = "host";
    operation.name = name;
    operation.start = now();
    operation.end = now() + cost.cycles;
    operation.macs = cost.macs;
    operation.causes[Cause::Work] = cost.cycles;
    if (result_.timeline) {
        result_.timeline->lanes["host.operator"].push_back(
            {"work", "work", operation.start, operation.end});
    }
    result_.operations.push_back(std::move(operation));
    result_.model->host += cost.cycles;
    result_.model->host_macs += cost.macs;
    ++result_.model->host_operators;
    result_.cycles += cost.cycles;
    result_.simulated_cycles += cost.cycles;
}

Result JoinedResult::take() {
    if (result_.model->host_operators > 0) {
        result_.units.push_back({"host", {result_.model->host, Cycles(0), Cycles(0)}});
    }
    return std::move(result_);
}

}  // namespace npuscope
