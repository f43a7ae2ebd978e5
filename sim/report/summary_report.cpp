// SPDX-License-Identifier: Apache-2.0
#include "sim/report/summary_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/config/text_table.h"
#include "sim/report/cause_table.h"
#include "sim/report/finding_report.h"

namespace npuscope {
namespace {

constexpr std::size_t most_operations = 200;

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string headline(const Result& result) {
    const std::string head =
        fmt::format("{} on {}: {}, {} cycles, {:.1f} us at {:.0f} MHz", result.program,
                    result.npu(), enum_name(result.status()), with_separators(result.cycles.value),
                    microseconds(result), static_cast<double>(result.config.clock().value) / 1e6);
    const double rate =
        result.wall_seconds > 0
            ? static_cast<double>(result.simulated_cycles.value) / result.wall_seconds / 1e6
            : 0;
    return fmt::format("{}\nsimulated {} cycles in {:.2f} s ({:.2f} Mcycles/s)\n",
                       cut_to(head, report_width), with_separators(result.simulated_cycles.value),
                       result.wall_seconds, rate);
}

std::string model_of(const Result& result) {
    if (!result.model) {
        return {};
    }
    const ModelShare& model = *result.model;
    std::string text = fmt::format(
        "host {} of the time ({} cycles, estimated, for {}); {}{} refused\n",
        percent(host_share(result)), with_separators(model.host.cycles.value),
        counted(model.host.operators, "operator"),
        model.segments.empty() ? "" : counted(model.segments.size(), "segment") + " of the NPU, ",
        counted(model.refused.size(), "layer"));
    if (model.memory) {
        text += fmt::format("weights {} bytes, feature maps {} bytes at most\n",
                            with_separators(model.memory->weights.value),
                            with_separators(model.memory->peak_maps.value));
    }
    return text;
}

/// Why, for each layer that the NPU does not take.
std::string refused_of(const Result& result) {
    std::string text;
    for (const RefusedLayer& layer :
         result.model ? result.model->refused : std::vector<RefusedLayer>{}) {
        text += fmt::format(
            "\nlayer '{}' is not taken as {}: {}\n", layer.layer, layer.pattern,
            layer.partly_taken ? "all but its residual runs on the NPU" : "it runs on the host");
        for (const Diagnostic& problem : layer.problems) {
            text += fmt::format("  {}at '{}': {}", problem.id.empty() ? "" : problem.id + " ",
                                problem.operation, problem.sentence);
            const auto add = [&text](const char* before, const std::string& value) {
                text += value.empty() ? "" : before + value;
            };
            add("; it is ", problem.value);
            add("; allowed ", problem.allowed);
            add("; nearest legal value ",
                problem.nearest == problem.allowed ? "" : problem.nearest);
            add("; ", problem.remedy);
            text += '\n';
        }
    }
    return text;
}

/// `mac 62 %, sdp_drain 30 %`: the causes of at least a twentieth of the cycles, largest first.
std::string causes_of(const OperationRecord& operation) {
    if (operation.cycles().value == 0) {
        return {};
    }
    CauseCycles left = operation.causes;
    std::string text;
    for (std::size_t i = 0; i < cause_names.size(); ++i) {
        const std::string_view name = left.largest();
        std::size_t at = 0;
        while (cause_names[at] != name) {
            ++at;
        }
        const std::uint64_t share = left.cycles[at].value * 100 / operation.cycles().value;
        if (share < 5) {
            break;
        }
        text += fmt::format("{}{} {} %", text.empty() ? "" : ", ", name, share);
        left.cycles[at] = Cycles(0);
    }
    return text;
}

std::string operations_of(const Result& result) {
    const bool kinds = std::ranges::any_of(result.operations, [](const OperationRecord& operation) {
        return !operation.kind.empty();
    });
    std::vector<TextTable::Column> columns{
        {"#", Align::Right}, {"unit", Align::Left}, {"name", Align::Left}};
    if (kinds) {
        columns.push_back({"pattern", Align::Left});
    }
    columns.insert(columns.end(), {{"cycles", Align::Right},
                                   {"macs", Align::Right},
                                   {"used", Align::Right},
                                   {"bound by", Align::Left}});
    TextTable table(std::move(columns));
    for (std::size_t i = 0; i < result.operations.size() && i < most_operations; ++i) {
        const OperationRecord& operation = result.operations[i];
        const auto utilisation = mac_utilisation(operation);
        std::vector<std::string> cells{std::to_string(i), operation.unit, operation.name};
        if (kinds) {
            cells.push_back(operation.kind);
        }
        cells.insert(cells.end(), {with_separators(operation.cycles().value),
                                   operation.macs == 0 ? "" : with_separators(operation.macs),
                                   utilisation ? percent(*utilisation) : "", causes_of(operation)});
        table.add_row(std::move(cells));
    }
    std::string text = "\noperations\n" + table.text();
    if (result.operations.size() > most_operations) {
        text += fmt::format("  ... and {} more\n", result.operations.size() - most_operations);
    }
    return table.empty() ? std::string() : text + cause_table(result.operations, most_operations);
}

std::string traffic_of(const Result& result) {
    TextTable table({{"client", Align::Left},
                     {"bytes read", Align::Right},
                     {"beats", Align::Right},
                     {"bytes written", Align::Right},
                     {"beats", Align::Right}});
    const auto add = [&table](const std::string& name, const ClientTraffic& traffic) {
        table.add_row(
            {name, with_separators(traffic.read_bytes.value), with_separators(traffic.read_beats),
             with_separators(traffic.write_bytes.value), with_separators(traffic.write_beats)});
    };
    for (const NamedTraffic& client : result.traffic) {
        if (client.traffic.read_beats != 0 || client.traffic.write_beats != 0) {
            add(client.client, client.traffic);
        }
    }
    if (table.empty()) {
        return {};
    }
    add("all", result.total_traffic());
    return "\ntraffic\n" + table.text();
}

std::string units_of(const Result& result) {
    TextTable table({{"unit", Align::Left},
                     {"busy", Align::Right},
                     {"starved", Align::Right},
                     {"blocked", Align::Right}});
    for (const NamedUnit& unit : result.units) {
        const UnitStatistics& counted = unit.statistics;
        if (counted.busy.value + counted.starved.value + counted.blocked.value != 0) {
            table.add_row({unit.unit, with_separators(counted.busy.value),
                           with_separators(counted.starved.value),
                           with_separators(counted.blocked.value)});
        }
    }
    return table.empty() ? std::string() : "\nunits, cycles\n" + table.text();
}

std::string drams_of(const Result& result) {
    TextTable table({{"DRAM", Align::Left},
                     {"bursts read", Align::Right},
                     {"written", Align::Right},
                     {"row hits", Align::Right},
                     {"misses", Align::Right},
                     {"conflicts", Align::Right},
                     {"refreshes", Align::Right},
                     {"turnarounds", Align::Right}});
    for (const NamedDram& dram : result.drams) {
        const DramStatistics& counted = dram.statistics;
        table.add_row({dram.region, with_separators(counted.read_bursts),
                       with_separators(counted.write_bursts), with_separators(counted.row_hits),
                       with_separators(counted.row_misses), with_separators(counted.row_conflicts),
                       with_separators(counted.refreshes), with_separators(counted.turnarounds)});
    }
    return table.empty() ? std::string() : "\nDRAM, bursts\n" + table.text();
}

/// What was looked at; of an image that differs, where.
std::string subject_of(const CheckResult& check) {
    if (check.subject.empty()) {
        return to_hex(check.address);
    }
    const bool differs = check.kind == CheckKind::Image && !check.pass;
    return differs ? check.subject + " at " + to_hex(check.address) : check.subject;
}

std::string checks_of(const Result& result) {
    TextTable table({{"", Align::Left},
                     {"kind", Align::Left},
                     {"address", Align::Left},
                     {"bytes", Align::Right},
                     {"expected", Align::Left},
                     {"actual", Align::Left},
                     {"place", Align::Left}});
    for (const CheckResult& check : result.checks) {
        table.add_row({check.skipped ? "skipped"
                       : check.pass  ? "pass"
                                     : "FAIL",
                       std::string(enum_name(check.kind)), subject_of(check),
                       with_separators(check.bytes.value), check.expected, check.actual,
                       short_place(check.place)});
    }
    return table.empty() ? std::string() : "\nchecks\n" + table.text();
}

}  // namespace

std::string summary_report(const Result& result) {
    return headline(result) + model_of(result) + operations_of(result) + traffic_of(result) +
           units_of(result) + drams_of(result) + checks_of(result) + refused_of(result) +
           findings_text(result.findings);
}

}  // namespace npuscope
