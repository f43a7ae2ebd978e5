// SPDX-License-Identifier: Apache-2.0
// A result for people: the verdict, a row per layer, then what was checked and what the machine
// found wrong. More on request. Tables are at most 100 columns wide, that of the layers 80.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/base/counters.h"
#include "sim/compile/explain.h"
#include "sim/config/diagnostic_report.h"
#include "sim/report/reports.h"
#include "sim/report/verdict.h"
#include "sim/run/attribution.h"

namespace npuscope {
namespace {

std::string effort(const Result& result, std::size_t width) {
    const double rate =
        result.wall_seconds > 0
            ? static_cast<double>(result.simulated_cycles.value) / result.wall_seconds / 1e6
            : 0;
    const bool brief = result.wall_seconds < 0.1;
    std::string repeats;
    if (result.repeated_cycles > Cycles(0)) {
        repeats =
            wrapped(fmt::format("{} of these cycles repeat earlier ones: counted, not simulated",
                                percent(static_cast<double>(result.repeated_cycles.value) /
                                        static_cast<double>(result.simulated_cycles.value))),
                    0, 2, width);
    }
    return fmt::format("\nsimulated {} cycles in {:.{}f} {} ({:.2f} Mcycles/s)\n{}",
                       with_separators(result.simulated_cycles.value),
                       result.wall_seconds * (brief ? 1e3 : 1), brief ? 1 : 2, brief ? "ms" : "s",
                       rate, repeats);
}

std::string model_of(const Result& result) {
    if (!result.model) {
        return {};
    }
    const ModelShare& model = *result.model;
    std::string text = fmt::format(
        "\nhost {} of the time ({} cycles, estimated, for {}); {}{} refused\n",
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

/// The reason for each layer that the NPU does not support.
std::string refused_of(const Result& result) {
    const std::string text = result.model ? refusals_text(result.model->refused) : std::string();
    return text.empty() ? text : '\n' + text;
}

/// `27.6 k`: three digits and a prefix.
std::string short_bytes(std::uint64_t bytes) {
    constexpr std::array prefixes{"", " k", " M", " G", " T"};
    auto value = static_cast<double>(bytes);
    std::size_t prefix = 0;
    for (; value >= 1000 && prefix + 1 < prefixes.size(); ++prefix) {
        value /= 1000;
    }
    return prefix == 0 ? fmt::format("{}", bytes)
                       : fmt::format("{:.{}f}{}", value,
                                     value < 10    ? 2
                                     : value < 100 ? 1
                                                   : 0,
                                     prefixes.at(prefix));
}

/// One row per layer, or per operation of a program without layers. The cycles sum to the run's.
std::string rows_text(const Result& result, std::size_t width) {
    const std::vector<LayerRecord> rows = rows_of(result);
    TextTable table({{"#", Align::Right},
                     {result.layers.empty() ? "operation" : "layer", Align::Left},
                     {"kind", Align::Left},
                     {"cycles", Align::Right},
                     {"share", Align::Right},
                     {"MACs used", Align::Right},
                     {"read", Align::Right},
                     {"written", Align::Right},
                     {"bound by", Align::Left}});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const LayerRecord& row = rows[i];
        const Cycles cycles = row.cycles();
        const auto used = mac_utilisation(row);
        const ClientTraffic moved = moved_by(row);
        table.add_row({std::to_string(i), row.name, row.on_host ? "host " + row.kind : row.kind,
                       with_separators(cycles.value), percent(share_of(row, result)),
                       used && row.macs != 0 ? percent(*used) : "",
                       short_bytes(moved.read_bytes.value), short_bytes(moved.write_bytes.value),
                       std::string(cycles != Cycles(0) ? row.causes.largest()
                                   : row.on_host       ? "not counted"
                                                       : "hidden")});
    }
    return table.empty()
               ? std::string()
               : '\n' +
                     wrapped("where the time went: cycles, share of all, MAC array used, bytes", 0,
                             2, width) +
                     table.text(width);
}

/// How far layers may be from the model, if they use other scales or weights than the model.
std::string deviations_of(const Result& result, std::size_t width) {
    TextTable table({{"layer", Align::Left},
                     {"rounded", Align::Left},
                     {"most steps", Align::Right},
                     {"expected per million", Align::Right}});
    for (const LayerRecord& layer : result.layers) {
        if (layer.deviation) {
            table.add_row({layer.name, layer.deviation->folded ? "weights" : "scales",
                           fmt::format("{:.0f}", layer.deviation->steps()),
                           fmt::format("{:.0f}", layer.deviation->expected * 1e6)});
        }
    }
    return table.empty() ? std::string()
                         : "\nresults that differ from the model's, by layer\n" + table.text(width);
}

std::string operations_of(const Result& result, std::size_t width) {
    TextTable table({{"#", Align::Right},
                     {"unit", Align::Left},
                     {"name", Align::Left},
                     {"cycles", Align::Right},
                     {"hidden", Align::Right},
                     {"MACs", Align::Right},
                     {"MACs used", Align::Right},
                     {"bound by", Align::Left}});
    for (std::size_t i = 0; i < result.operations.size(); ++i) {
        const OperationRecord& operation = result.operations[i];
        const auto utilisation = mac_utilisation(operation);
        const Cycles hidden = hidden_cycles(operation);
        table.add_row({std::to_string(i), operation.unit, operation.name,
                       with_separators(operation.cycles().value),
                       hidden == Cycles(0) ? "" : with_separators(hidden.value),
                       operation.macs == 0 ? "" : with_separators(operation.macs),
                       utilisation ? percent(*utilisation) : "",
                       causes_text(operation.causes, operation.cycles())});
    }
    return table.empty() ? std::string()
                         : "\noperations, from their launch to their end\n" + table.text(width) +
                               cause_table(result.operations, width);
}

std::string traffic_of(const Result& result, std::size_t width) {
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
    return "\ntraffic\n" + table.text(width);
}

std::string units_of(const Result& result, std::size_t width) {
    std::vector<TextTable::Column> columns{{"unit", Align::Left}};
    const UnitStatistics none;
    for (const auto& counter : counters_of(none)) {
        columns.push_back({std::string(counter.name), Align::Right});
    }
    TextTable table(columns);
    for (const NamedUnit& unit : result.units) {
        if (!equal(unit.statistics, none)) {
            std::vector<std::string> cells{unit.unit};
            for (const auto& counter : counters_of(unit.statistics)) {
                cells.push_back(with_separators(*counter.number));
            }
            table.add_row(cells);
        }
    }
    return table.empty() ? std::string() : "\nunits, cycles\n" + table.text(width);
}

std::string drams_of(const Result& result, std::size_t width) {
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
    const char* of = result.instances.empty() ? "" : " of all instances";
    return table.empty() ? std::string()
                         : fmt::format("\nDRAM, bursts{}\n{}", of, table.text(width));
}

/// What was checked; for an image that differs, where.
std::string subject_of(const CheckResult& check) {
    if (check.subject.empty()) {
        return to_hex(check.address);
    }
    if (check.kind == CheckKind::Crc32) {
        return to_hex(check.address) + " " + check.subject;
    }
    const bool compared = check.kind == CheckKind::Image || check.difference.has_value();
    const bool differs = compared && !check.pass;
    return differs ? check.subject + " at " + to_hex(check.address) : check.subject;
}

std::string checks_of(const Result& result, std::size_t width) {
    TextTable table({{"", Align::Left},
                     {"kind", Align::Left},
                     {"address", Align::Left},
                     {"bytes", Align::Right},
                     {"expected", Align::Left},
                     {"actual", Align::Left},
                     {"place", Align::Left}});
    for (const CheckResult& check : result.checks) {
        table.add_row({check.skipped    ? "skipped"
                       : !check.reached ? "NOT MADE"
                       : check.pass     ? "pass"
                                        : "FAIL",
                       std::string(enum_name(check.kind)), subject_of(check),
                       with_separators(check.bytes.value), check.expected, check.actual,
                       short_place(check.place)});
    }
    std::string text = table.empty() ? std::string() : "\nchecks\n" + table.text(width);
    for (const CheckResult& check : result.checks) {
        if (!check.writers.empty()) {
            text += wrapped(
                fmt::format("{} at {} differs:", enum_name(check.kind), to_hex(check.address)), 2,
                4, width);
        }
        for (const std::string& line : check.writers) {
            text += wrapped(line, 4, 8, width);
        }
    }
    return text;
}

/// Where tensors differ: for surfaces each, for layers only the first, which affects the others.
std::string differences_of(const Result& result, std::size_t width) {
    std::string text;
    bool layer_told = false;
    for (const CheckResult& check : result.checks) {
        const bool is_layer = check.kind == CheckKind::Layer;
        if (!check.difference || (is_layer && layer_told)) {
            continue;
        }
        layer_told = layer_told || is_layer;
        text += fmt::format("  {} '{}':\n{}", is_layer ? "first wrong layer" : "surface",
                            check.subject, difference_text(*check.difference, width));
    }
    return text.empty() ? text : "\ndifferences\n" + text;
}

/// For one input the five best classes; for several the best one of each.
std::string rankings_of(const Result& result, std::size_t width) {
    TextTable table({{"input", Align::Right},
                     {"output", Align::Left},
                     {"class", Align::Right},
                     {"label", Align::Left},
                     {"score", Align::Right},
                     {"probability", Align::Right}});
    for (const Ranking& ranking : result.rankings) {
        const std::size_t shown = result.batch ? 1 : ranking.best.size();
        for (std::size_t i = 0; i < std::min(shown, ranking.best.size()); ++i) {
            const RankedLabel& one = ranking.best[i];
            table.add_row({std::to_string(ranking.input), ranking.output, std::to_string(one.index),
                           one.label, fmt::format("{:.4g}", one.score), percent(one.probability)});
        }
    }
    return table.empty() ? std::string() : "\npredicted classes\n" + table.text(width);
}

std::vector<std::size_t> causes_in_use(const std::vector<OperationRecord>& operations) {
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < cause_names.size(); ++i) {
        const auto has = [i](const OperationRecord& operation) {
            return operation.causes.cycles[i].value != 0;
        };
        if (std::ranges::any_of(operations, has)) {
            used.push_back(i);
        }
    }
    return used;
}

}  // namespace

std::string cause_table(const std::vector<OperationRecord>& operations, std::size_t width) {
    const std::vector<std::size_t> used = causes_in_use(operations);
    std::vector<TextTable::Column> columns{{"#", Align::Right}};
    for (const std::size_t cause : used) {
        columns.push_back({std::string(cause_names[cause]), Align::Right});
    }
    columns.push_back({"sum", Align::Right});
    TextTable table(std::move(columns));
    for (std::size_t i = 0; i < operations.size(); ++i) {
        std::vector<std::string> cells{std::to_string(i)};
        std::uint64_t sum = 0;
        for (const std::size_t cause : used) {
            const std::uint64_t cycles = operations[i].causes.cycles[cause].value;
            sum += cycles;
            cells.push_back(cycles == 0 ? "" : with_separators(cycles));
        }
        cells.push_back(with_separators(sum));
        table.add_row(std::move(cells));
    }
    return table.empty() || used.empty() ? std::string()
                                         : "\nwhere the cycles went\n" + table.text(width);
}

std::string summary_report(const Result& result, Details details, std::size_t width) {
    const bool all = details == Details::Operations;
    std::string text = verdict(result, width) + rankings_of(result, width) +
                       rows_text(result, width) + fitted(model_of(result), width);
    if (all) {
        text += deviations_of(result, width) + operations_of(result, width) +
                traffic_of(result, width) + units_of(result, width) + drams_of(result, width);
    }
    return text + checks_of(result, width) + differences_of(result, width) +
           fitted(refused_of(result), width) + findings_text(result.findings, all, width) +
           effort(result, width);
}

}  // namespace npuscope
