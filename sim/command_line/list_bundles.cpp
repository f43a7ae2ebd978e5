// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/list_bundles.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/memory/memory_config.h"
#include "sim/command_line/experiment.h"
#include "sim/config/json_writer.h"
#include "sim/config/preset.h"
#include "sim/config/text_table.h"
#include "sim/model/network.h"
#include "sim/sweep/space.h"

namespace npuscope {
namespace {

std::vector<PresetFile> presets_of(const char* kind, const std::string& prefix) {
    const auto folder = configs_folder();
    std::vector<PresetFile> presets;
    for (const std::string& name : list_presets(folder, kind)) {
        if (name.starts_with(prefix)) {
            presets.push_back(find_preset(folder, kind, name));
        }
    }
    return presets;
}

std::string gigabytes(double bytes_per_second) {
    return fmt::format("{:.4g} GB/s", bytes_per_second / 1e9);
}

/// From an ACTIVATE to the first data, and what all channels move at most.
std::string dram_text(const DramConfig& dram) {
    const auto clock = static_cast<double>(dram.clock.value);
    const DramOrganisation& built = dram.organisation;
    const double rate =
        clock * built.beats_per_clock * static_cast<double>(built.bus_width.value) * built.channels;
    const auto closed = static_cast<double>((dram.timing.t_rcd + dram.timing.cl).value);
    const auto open = static_cast<double>(dram.timing.cl.value);
    return fmt::format("{}, open row {:.3g} ns, closed row {:.3g} ns, controller {}",
                       gigabytes(rate), open / clock * 1e9, closed / clock * 1e9,
                       format_quantity(dram.controller_latency.value, UnitKind::CycleCount));
}

/// Bytes that a beat of the NPU's bus has; 0 where it has no such field.
std::uint64_t bus_bytes(const SystemConfig& system) {
    const Json npu = to_json(system)["npu"];
    const bool known = npu.contains("mcif") && npu["mcif"].contains("bus_width");
    return known ? npu["mcif"]["bus_width"].get<std::uint64_t>() : 0;
}

std::string plain_text(const MemoryConfig& memory, const SystemConfig& system) {
    const double beats =
        static_cast<double>(system.clock().value) /
        static_cast<double>(std::max<std::uint64_t>(memory.beat_interval.value, 1));
    return fmt::format("{} on the bus of {} ({} a beat), latency {}",
                       gigabytes(beats * static_cast<double>(bus_bytes(system))), system.npu_name(),
                       counted(memory.beat_interval.value, "cycle"),
                       counted(memory.read_latency.value, "cycle"));
}

std::string memory_text(const MemoryConfig& memory, const SystemConfig& system) {
    const auto dram = std::ranges::find_if(
        memory.regions, [](const MemoryRegionConfig& region) { return region.dram.has_value(); });
    return dram == memory.regions.end() ? plain_text(memory, system) : dram_text(*dram->dram);
}

std::uint64_t weight_bytes(const Network& network, const std::vector<LayerShapes>& shapes) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        const Layer& layer = network.layers[i];
        bytes += std::uint64_t{layer.kernels} * (shapes[i].input.channels / layer.groups) *
                 shapes[i].window.rows * shapes[i].window.columns;
    }
    return bytes;
}

}  // namespace

std::string list_presets_text(const SystemConfig& system, NpuFamilies families,
                              const std::string& prefix) {
    std::string text;
    for (const PresetFile& preset : presets_of("npu", prefix)) {
        const SystemConfig one = parse_system(read_preset_text(preset), preset.shown, families);
        text += fmt::format("npu     {:<22}{}\n", preset.name, one.family->summary(one.npu));
    }
    for (const PresetFile& preset : presets_of("memory", prefix)) {
        text += fmt::format("memory  {:<22}{}\n", preset.name,
                            memory_text(read_preset<MemoryConfig>(preset), system));
    }
    return text;
}

std::string list_memories_text(const SystemConfig& system, const std::string& prefix) {
    std::string text;
    for (const PresetFile& preset : presets_of("memory", prefix)) {
        text += fmt::format("{:<18}{}\n", preset.name,
                            memory_text(read_preset<MemoryConfig>(preset), system));
    }
    return text;
}

std::string list_networks_text(const std::string& prefix) {
    TextTable table({{"network", Align::Left},
                     {"input", Align::Left},
                     {"layers", Align::Right},
                     {"MACs", Align::Right},
                     {"bytes of weights", Align::Right}});
    for (const PresetFile& preset : presets_of("workload", prefix)) {
        const Network network = read_network(preset.path);
        const std::vector<LayerShapes> shapes = network_shapes(network);
        table.add_row({preset.name, shape_text(network.input.shape()),
                       with_separators(network.layers.size()), with_separators(total_macs(shapes)),
                       with_separators(weight_bytes(network, shapes))});
    }
    return table.empty() ? std::string() : table.text();
}

std::string list_experiments_text(const std::string& prefix) {
    std::string text;
    for (const PresetFile& preset : presets_of("experiment", prefix)) {
        text += fmt::format("{:<22}{}\n", preset.name, read_experiment(preset.path).shows);
    }
    return text;
}

std::string list_sweeps_text(const std::string& prefix) {
    std::string text;
    for (const PresetFile& preset : presets_of("sweep", prefix)) {
        text += fmt::format("{:<22}{}\n", preset.name, read_space(preset.path).shows());
    }
    return text;
}

}  // namespace npuscope
