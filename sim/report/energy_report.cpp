// SPDX-License-Identifier: Apache-2.0
#include "sim/report/energy_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "models/base/error.h"
#include "models/npu/npu_config.h"
#include "sim/config/limits.h"

namespace npuscope {
namespace {

constexpr const char* memory_part = "memory";
constexpr const char* on_chip_part = "on_chip";
constexpr const char* dram_prefix = "dram_";
constexpr const char* reading = "read_bytes";
constexpr const char* writing = "write_bytes";

/// A part and an action that runs count.
struct CountedAction {
    std::string_view part;
    std::string_view action;
};
constexpr std::array counted_actions{
    CountedAction{"mac", "int8"},         CountedAction{"mac", "int16"},
    CountedAction{"mac", "fp16"},         CountedAction{"cbuf", reading},
    CountedAction{"cbuf", writing},       CountedAction{"cacc", "update"},
    CountedAction{memory_part, reading},  CountedAction{memory_part, writing},
    CountedAction{on_chip_part, reading}, CountedAction{on_chip_part, writing}};
constexpr std::array dram_actions{std::string_view("row_activations"), std::string_view("bursts")};

bool is_counted(const ActionEnergy& line) {
    if (line.part.starts_with(dram_prefix)) {
        return std::ranges::find(dram_actions, line.action) != dram_actions.end();
    }
    return std::ranges::any_of(counted_actions, [&](const CountedAction& one) {
        return one.part == line.part && one.action == line.action;
    });
}

std::string counted_text() {
    std::string text;
    for (const CountedAction& one : counted_actions) {
        text += fmt::format("{} {}, ", one.part, one.action);
    }
    return fmt::format("{}{}REGION {}", text, dram_prefix, fmt::join(dram_actions, " or "));
}

/// Whether the memory of a port is on the chip: an NVDLA's second one, or any other NPU's.
bool is_on_chip(const NamedPort& port, const Result& result) {
    return port.port != "primary" || result.config.npu.find<NpuConfig>() == nullptr;
}

/// The result is that of one of several NPUs, but its DRAMs count what all of them did.
bool of_several(const Result& result) { return !result.instances.empty(); }

/// What a run counts, with the memories behind the ports as further parts.
std::vector<ActionCount> counts_of(const Result& result) {
    std::vector<ActionCount> counts = result.actions;
    ClientTraffic traffic = result.total_traffic();
    ClientTraffic on_chip;
    for (const NamedPort& port : result.ports) {
        if (is_on_chip(port, result)) {
            on_chip += port.traffic;
        }
    }
    counts.push_back({memory_part, reading, (traffic.read_bytes - on_chip.read_bytes).value});
    counts.push_back({memory_part, writing, (traffic.write_bytes - on_chip.write_bytes).value});
    counts.push_back({on_chip_part, reading, on_chip.read_bytes.value});
    counts.push_back({on_chip_part, writing, on_chip.write_bytes.value});
    for (const NamedDram& dram : result.drams) {
        if (!of_several(result)) {
            counts.push_back({dram_prefix + dram.region, "row_activations",
                              dram.statistics.row_misses + dram.statistics.row_conflicts});
            counts.push_back({dram_prefix + dram.region, "bursts",
                              dram.statistics.read_bursts + dram.statistics.write_bursts});
        }
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

/// Of lines for banks the smallest that holds this one; a line without a bank holds any.
const ActionEnergy* line_of(const EnergyTable& table, const ActionCount& action,
                            std::optional<Bytes> bank) {
    const ActionEnergy* best = nullptr;
    for (const ActionEnergy& line : table.actions) {
        if (line.part != action.part || line.action != action.action ||
            (line.bank && (!bank || *line.bank < *bank))) {
            continue;
        }
        if (best == nullptr || (line.bank && (!best->bank || *line.bank < *best->bank))) {
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

EnergyTable read_energy_table(const std::string& text, const std::string& file) {
    const ConfigNode root = parse_yaml(text, file);
    auto table = read_limited<EnergyTable>(root, "energy");
    for (std::size_t i = 0; i < table.actions.size(); ++i) {
        const ActionEnergy& line = table.actions[i];
        const Place place = root.find("actions")->items[i].place;
        if (!is_counted(line)) {
            throw ConfigError(
                place,
                fmt::format("no run counts the action '{}' of a part '{}'", line.action, line.part),
                fmt::format("known: {}", counted_text()));
        }
        const auto same = [&](const ActionEnergy& other) {
            return other.part == line.part && other.action == line.action &&
                   other.bank == line.bank;
        };
        if (std::any_of(table.actions.begin(),
                        table.actions.begin() + static_cast<std::ptrdiff_t>(i), same)) {
            throw ConfigError(place,
                              fmt::format("an earlier line also gives '{}' of '{}'{}", line.action,
                                          line.part, line.bank ? " for this bank" : ""),
                              "remove one of them");
        }
    }
    return table;
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
    for (const NamedDram& dram : result.drams) {
        if (of_several(result)) {
            estimate.unknown.push_back(dram_prefix + dram.region);
        }
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

std::string energy_line(const EnergyEstimate& estimate, const Result& result) {
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
    const bool nvdla = result.config.npu.find<NpuConfig>() != nullptr;
    const bool host = std::ranges::any_of(result.layers, &LayerRecord::on_host);
    return fmt::format("{}{}control, clocks, {}, leakage", text, host ? "the host, " : "",
                       nvdla ? "SDP, PDP, CDP" : "MACs, buffers");
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
