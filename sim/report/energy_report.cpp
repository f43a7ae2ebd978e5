// SPDX-License-Identifier: Apache-2.0
#include "sim/report/energy_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "models/npu/npu_config.h"

namespace npuscope {
namespace {

/// What a run counts, with the memory behind the ports as one more part.
std::vector<ActionCount> counts_of(const Result& result) {
    std::vector<ActionCount> counts = result.actions;
    const ClientTraffic traffic = result.total_traffic();
    counts.push_back({"memory", "read_bytes", traffic.read_bytes.value});
    counts.push_back({"memory", "write_bytes", traffic.write_bytes.value});
    for (const NamedDram& dram : result.drams) {
        counts.push_back({"dram_" + dram.region, "row_activations",
                          dram.statistics.row_misses + dram.statistics.row_conflicts});
        counts.push_back({"dram_" + dram.region, "bursts",
                          dram.statistics.read_bursts + dram.statistics.write_bursts});
    }
    std::erase_if(counts, [](const ActionCount& one) { return one.count == 0; });
    return counts;
}

/// Bytes per bank of the convolution buffer; nothing if there is none.
std::optional<Bytes> bank_of(const Result& result) {
    const NpuConfig* npu = result.config.npu.find<NpuConfig>();
    return npu == nullptr ? std::nullopt
                          : std::optional(npu->cbuf.bank_width * npu->cbuf.bank_depth);
}

/// The best matching line: of those of an SRAM the smallest that holds the bank.
const ActionEnergy* line_of(const EnergyTable& table, const ActionCount& action,
                            std::optional<Bytes> bank) {
    const ActionEnergy* best = nullptr;
    for (const ActionEnergy& line : table.actions) {
        if (line.part != action.part || line.action != action.action ||
            (line.bank && (!bank || *line.bank < *bank))) {
            continue;
        }
        if (best == nullptr || line.bank.value_or(Bytes(0)) < best->bank.value_or(Bytes(0))) {
            best = &line;
        }
    }
    return best;
}

std::optional<double> mac_area(const EnergyTable& table, const Result& result) {
    const NpuConfig* npu = result.config.npu.find<NpuConfig>();
    if (npu == nullptr) {
        return std::nullopt;
    }
    const double cells = 1.0 * npu->datapath.atomic_c * npu->datapath.atomic_k;
    const auto area = std::ranges::find_if(
        table.areas, [](const CellArea& one) { return one.part == "mac" && one.kind == "int8"; });
    // cells that also compute in other types are larger, by an amount that no table gives
    const bool int8_alone = !npu->datapath.int16 && !npu->datapath.fp16;
    return area == table.areas.end() || !int8_alone
               ? std::nullopt
               : std::optional(cells * static_cast<double>(area->square_micrometres));
}

std::string with_unit(double picojoules) {
    return picojoules >= 1e9   ? fmt::format("{:.3g} mJ", picojoules / 1e9)
           : picojoules >= 1e6 ? fmt::format("{:.3g} uJ", picojoules / 1e6)
                               : fmt::format("{:.3g} nJ", picojoules / 1e3);
}

}  // namespace

double EnergyEstimate::picojoules() const {
    double all = 0;
    for (const EnergyShare& share : shares) {
        all += share.picojoules;
    }
    return all;
}

EnergyEstimate estimate_energy(const EnergyTable& table, const Result& result) {
    EnergyEstimate estimate{.process = table.process};
    const std::optional<Bytes> bank = bank_of(result);
    for (const ActionCount& action : counts_of(result)) {
        const ActionEnergy* line = line_of(table, action, bank);
        if (line == nullptr) {
            estimate.unknown.push_back(action.part + ' ' + action.action);
            continue;
        }
        const double times =
            static_cast<double>(action.count) /
            static_cast<double>(std::max<std::uint64_t>(line->bytes.value_or(Bytes(1)).value, 1));
        estimate.shares.push_back({action.part, action.action, action.count,
                                   times * static_cast<double>(line->femtojoules) / 1e3});
    }
    estimate.mac_square_micrometres = mac_area(table, result);
    return estimate;
}

Json energy_json(const EnergyEstimate& estimate) {
    Json json{{"process", estimate.process},
              {"picojoules", estimate.picojoules()},
              {"parts", Json::array()},
              {"unknown", estimate.unknown}};
    for (const EnergyShare& share : estimate.shares) {
        json["parts"].push_back({{"part", share.part},
                                 {"action", share.action},
                                 {"count", share.count},
                                 {"picojoules", share.picojoules}});
    }
    if (estimate.mac_square_micrometres) {
        json["mac_square_micrometres"] = *estimate.mac_square_micrometres;
    }
    return json;
}

std::string energy_line(const EnergyEstimate& estimate) {
    const double all = estimate.picojoules();
    std::map<std::string, double> parts;
    for (const EnergyShare& share : estimate.shares) {
        parts[share.part] += share.picojoules;
    }
    std::string text = fmt::format("energy of the parts that the table covers ({}): {}",
                                   estimate.process, with_unit(all));
    const char* before = ": ";
    for (const auto& [part, picojoules] : parts) {
        text += fmt::format("{}{} {:.1f} %", before, part, all > 0 ? 100 * picojoules / all : 0);
        before = ", ";
    }
    text += "; not included: ";
    for (const std::string& part : estimate.unknown) {
        text += part + ", ";
    }
    return text + "control, clocks, SDP, PDP, CDP, leakage";
}

std::string action_counts_yaml(const Result& result) {
    std::map<std::string, std::vector<ActionCount>> parts;
    for (const ActionCount& action : counts_of(result)) {
        parts[action.part].push_back(action);
    }
    std::string text = "action_counts:\n  version: 0.3\n  local:\n";
    for (const auto& [part, actions] : parts) {
        text += fmt::format("    - name: npu.{}\n      action_counts:\n", part);
        for (const ActionCount& action : actions) {
            text += fmt::format("        - name: {}\n          counts: {}\n", action.action,
                                action.count);
        }
    }
    return text;
}

}  // namespace npuscope
