// SPDX-License-Identifier: Apache-2.0
#include "sim/run/result.h"

#include <algorithm>
#include <iterator>

#include "models/base/counters.h"

namespace npuscope {
namespace {

template <class T>
void append(std::vector<T>& all, std::vector<T>& part) {
    all.insert(all.end(), std::make_move_iterator(part.begin()),
               std::make_move_iterator(part.end()));
}

/// Merges entries of the same name.
template <class Named, class Value>
void add_named(std::vector<Named>& all, const std::vector<Named>& part, std::string Named::*name,
               Value Named::*value) {
    for (const Named& one : part) {
        const auto found = std::ranges::find(all, one.*name, name);
        if (found == all.end()) {
            all.push_back(one);
        } else {
            add_counters((*found).*value, one.*value);
        }
    }
}

/// Shifts all times by `offset` cycles.
void delay(Result& part, Cycles offset) {
    part.first_op_enable += offset;
    for (OperationRecord& operation : part.operations) {
        operation.start += offset;
        operation.end += offset;
        if (operation.first_mac) {
            *operation.first_mac += offset;
        }
    }
    if (part.model) {
        for (SegmentRecord& segment : part.model->segments) {
            segment.start += offset;
        }
    }
    if (!part.timeline) {
        return;
    }
    for (auto& [name, spans] : part.timeline->lanes) {
        for (TimelineSpan& span : spans) {
            span.begin += offset;
            span.end += offset;
        }
    }
    for (auto* all : {&part.timeline->counters, &part.timeline->moved}) {
        for (auto& [name, steps] : *all) {
            for (TimelineStep& step : steps) {
                step.time += offset;
            }
        }
    }
}

/// Bytes moved by earlier parts are added.
void append_moved(Timeline& all, Timeline& part) {
    for (auto& [name, steps] : part.moved) {
        std::vector<TimelineStep>& before = all.moved[name];
        const std::int64_t moved = before.empty() ? 0 : before.back().value;
        for (const TimelineStep& step : steps) {
            before.push_back({step.time, step.value + moved});
        }
    }
}

void append(ModelShare& all, ModelShare& part) {
    all.host.cycles += part.host.cycles;
    all.host.macs += part.host.macs;
    all.host.operators += part.host.operators;
    append(all.segments, part.segments);
}

}  // namespace

void append(Result& all, Result part) {
    delay(part, all.simulated_cycles);
    if (all.first_op_enable == Cycles(0)) {
        all.first_op_enable = part.first_op_enable;
    }
    if (all.model && part.model) {
        append(*all.model, *part.model);
    }
    for (LayerRecord& layer : part.layers) {
        for (std::size_t& operation : layer.operations) {
            operation += all.operations.size();
        }
    }
    append(all.layers, part.layers);
    append(all.operations, part.operations);
    append(all.checks, part.checks);
    append(all.findings, part.findings);
    append(all.kept, part.kept);
    add_named(all.traffic, part.traffic, &NamedTraffic::client, &NamedTraffic::traffic);
    add_named(all.ports, part.ports, &NamedPort::port, &NamedPort::traffic);
    add_named(all.units, part.units, &NamedUnit::unit, &NamedUnit::statistics);
    add_named(all.drams, part.drams, &NamedDram::region, &NamedDram::statistics);
    for (const ActionCount& action : part.actions) {
        const auto same = std::ranges::find_if(all.actions, [&](const ActionCount& one) {
            return one.part == action.part && one.action == action.action;
        });
        if (same == all.actions.end()) {
            all.actions.push_back(action);
        } else {
            same->count += action.count;
        }
    }
    if (all.timeline && part.timeline) {
        for (auto& [name, spans] : part.timeline->lanes) {
            append(all.timeline->lanes[name], spans);
        }
        for (auto& [name, steps] : part.timeline->counters) {
            append(all.timeline->counters[name], steps);
        }
        append_moved(*all.timeline, *part.timeline);
    }
    for (std::size_t i = 0; i < all.instances.size() && i < part.instances.size(); ++i) {
        all.instances[i].cycles += part.instances[i].cycles;
        all.instances[i].traffic += part.instances[i].traffic;
        all.instances[i].failed_checks += part.instances[i].failed_checks;
    }
    all.cycles += part.cycles;
    all.simulated_cycles += part.simulated_cycles;
    all.repeated_cycles += part.repeated_cycles;
}

ClientTraffic Result::total_traffic() const {
    ClientTraffic total;
    for (const NamedTraffic& client : traffic) {
        total += client.traffic;
    }
    return total;
}

RunStatus Result::status() const {
    const bool checks_pass = std::all_of(checks.begin(), checks.end(),
                                         [](const CheckResult& check) { return check.pass; });
    bool wrong = false;
    bool host_only = false;
    for (const Diagnostic& finding : findings) {
        const bool error = finding.severity == Severity::Error;
        host_only = host_only || (error && finding.id == rule_ids::host_only);
        wrong = wrong || (error && finding.id != rule_ids::host_only);
    }
    if (!checks_pass || wrong) {
        return RunStatus::Fail;
    }
    if (host_only) {
        return RunStatus::HostOnly;
    }
    const bool checked = std::any_of(checks.begin(), checks.end(),
                                     [](const CheckResult& check) { return !check.skipped; });
    return checked ? RunStatus::Pass : RunStatus::Unchecked;
}

double host_share(const Result& result) {
    if (!result.model || result.cycles.value == 0) {
        return 0;
    }
    return static_cast<double>(result.model->host.cycles.value) /
           static_cast<double>(result.cycles.value);
}

double microseconds(const Result& result) {
    const std::uint64_t clock = std::max<std::uint64_t>(result.config.clock().value, 1);
    return static_cast<double>(result.cycles.value) * 1e6 / static_cast<double>(clock);
}

namespace {

std::optional<double> utilisation(double macs, double cells, Cycles cycles) {
    const double possible = cells * static_cast<double>(cycles.value);
    return possible <= 0 ? std::nullopt : std::optional(macs / possible);
}

}  // namespace

std::optional<double> mac_utilisation(const OperationRecord& operation) {
    return utilisation(static_cast<double>(operation.macs), operation.mac_cells,
                       operation.cycles());
}

std::optional<double> mac_utilisation(const LayerRecord& layer) {
    return utilisation(static_cast<double>(layer.macs), layer.mac_cells, layer.cycles());
}

}  // namespace npuscope
