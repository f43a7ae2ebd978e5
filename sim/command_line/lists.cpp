// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <memory>
#include <sstream>

#include "models/memory/memory_config.h"
#include "sim/check/image_description.h"
#include "sim/command_line/experiment.h"
#include "sim/config/json_writer.h"
#include "sim/config/limits.h"
#include "sim/config/preset.h"
#include "sim/config/text_table.h"
#include "sim/model/network.h"
#include "sim/report/energy_report.h"
#include "sim/sweep/space.h"

namespace npuscope {
namespace {

/// Keys that every preset of an NPU may have in addition to the fields of its family.
struct PresetHead {
    std::string family = "nvdla";

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("family", self.family,
                    "kind of NPU, such as nvdla (runs register programs) or tinpu (runs layers)");
    }
};

void add(std::vector<ListedField>& fields, std::vector<FieldRow> rows, const std::string& kind,
         const NpuFamily* limiting = nullptr, const std::string& family = {}) {
    for (FieldRow& row : rows) {
        row.name = kind.empty() ? row.name : join_path(kind, row.name);
        const bool known = std::ranges::any_of(fields, [&](const ListedField& other) {
            return other.row.name == row.name && other.family == family;
        });
        if (!known) {
            const std::string limit = limit_text(limiting, row.name, row.type);
            fields.push_back({row, limit.empty() ? row.holds : limit, family,
                              relations_text(limiting, row.name)});
        }
    }
}

std::string in_a_cell(const std::string& text) {
    std::string cell;
    for (const char letter : text) {
        cell += letter == '|' ? "\\|" : std::string(1, letter);
    }
    return cell;
}

}  // namespace

std::vector<ListedField> all_fields(const SystemConfig& system, NpuFamilies families) {
    std::vector<ListedField> fields;
    add(fields, list_fields<PresetHead>(), "npu");
    add(fields, list_fields(SystemConfig{system.family, system.family->defaults()}), "",
        system.family);
    for (const NpuFamily* family : families) {
        if (family != system.family) {
            add(fields, list_fields(family->defaults()), "npu", family,
                std::string(family->name()));
        }
    }
    add(fields, list_fields<Network>(), "network");
    add(fields, list_fields<ImageDescription>(), "image");
    const auto experiment = std::make_unique<Experiment>();  // a large one
    add(fields, list_fields(*experiment), "experiment");
    add(fields, list_fields<SpaceSpec>(), "sweep");
    add(fields, list_fields<EnergyTable>(), "energy");
    return fields;
}

std::string fields_text(const std::vector<ListedField>& fields, const std::string& prefix) {
    std::string text;
    for (const ListedField& field : fields) {
        if (!field.row.name.starts_with(prefix)) {
            continue;
        }
        const bool required = field.row.default_text == required_field;
        text += fmt::format("{}{}\n    {}; {}{}{}{}\n    {}\n", field.row.name,
                            field.family.empty() ? "" : " (family " + field.family + ")",
                            field.row.type, required ? "" : "default ", field.row.default_text,
                            field.range.empty() ? "" : "; ", field.range, field.row.sentence);
        std::istringstream relations(field.relations);
        for (std::string relation; std::getline(relations, relation);) {
            text += "    relation: " + relation + '\n';
        }
    }
    return text;
}

std::string fields_markdown(const std::vector<ListedField>& fields, const std::string& prefix) {
    std::string text =
        "| key | type | range | default | meaning |\n| --- | --- | --- | --- | --- |\n";
    for (const ListedField& field : fields) {
        if (field.row.name.starts_with(prefix)) {
            text += fmt::format("| `{}` | {} | {} | {} | {} |\n",
                                field.row.name.substr(prefix.size()), field.row.type, field.range,
                                in_a_cell(field.row.default_text), in_a_cell(field.row.sentence));
        }
    }
    return text;
}

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

/// Of presets whose clock is not public a comment says which preset's stands in for it; then so do
/// those of the array and the buffers.
bool has_stand_ins(const std::string& text) {
    const std::size_t clock = text.find("\nclock:");
    return clock != std::string::npos &&
           text.substr(clock + 1, text.find('\n', clock + 1) - clock).find("stand-in:") !=
               std::string::npos;
}

std::string gigabytes(double bytes_per_second) {
    return fmt::format("{:.4g} GB/s", bytes_per_second / 1e9);
}

/// Latency from an ACTIVATE to the first data, and peak rate of all channels.
std::string dram_text(const DramConfig& dram) {
    const auto clock = static_cast<double>(dram.clock.value);
    const auto closed = static_cast<double>((dram.timing.t_rcd + dram.timing.cl).value);
    const auto open = static_cast<double>(dram.timing.cl.value);
    return fmt::format("{}, open row {:.3g} ns, closed row {:.3g} ns, controller {}",
                       gigabytes(dram.peak()), open / clock * 1e9, closed / clock * 1e9,
                       format_quantity(dram.controller_latency.value, UnitKind::CycleCount));
}

/// Bytes per beat of the NPU's bus; 0 if it has no such field.
std::uint64_t bus_bytes(const SystemConfig& system) {
    const Json npu = to_json(system)["npu"];
    const bool known = npu.contains("mcif") && npu["mcif"].contains("bus_width");
    return known ? npu["mcif"]["bus_width"].get<std::uint64_t>() : 0;
}

std::string plain_text(const MemoryConfig& memory, const SystemConfig& system) {
    const double beats =
        static_cast<double>(system.clock().value) /
        static_cast<double>(std::max<std::uint64_t>(memory.beat_interval.value, 1));
    std::string text = fmt::format("{} on the bus of {} ({} a beat), latency {}",
                                   gigabytes(beats * static_cast<double>(bus_bytes(system))),
                                   system.npu_name(), counted(memory.beat_interval.value, "cycle"),
                                   counted(memory.read_latency.value, "cycle"));
    for (const MemoryRegionConfig& region : memory.regions) {
        if (region.read_latency) {
            text += fmt::format("; {}: {}, latency {}", region.name,
                                format_quantity(region.size.value, UnitKind::ByteCount),
                                counted(region.read_latency->value, "cycle"));
        }
    }
    return text;
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
        const std::string fields = read_preset_text(preset);
        const SystemConfig one = parse_system(fields, preset.shown, families);
        text +=
            fmt::format("npu     {:<22}{}{}\n", preset.name,
                        has_stand_ins(fields) ? "stand-ins: " : "", one.family->summary(one.npu));
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

namespace {

/// Calls `constant(name, value, hexadecimal)` for every register and field, in order.
void each_constant(const FamilyRegisters& registers,
                   const std::function<void(const std::string&, std::uint32_t, bool)>& constant) {
    for (const RegisterBlock& block : registers.blocks) {
        for (const RegisterRow& row : block.rows) {
            const std::string name = fmt::format("{}_{}{}", block.name, row.name, registers.suffix);
            constant(name, block.base + row.offset, true);
            for (const RegisterField& field : row.fields) {
                const std::uint64_t ones = (std::uint64_t{1} << field.width) - 1;
                const std::string of_field = fmt::format("{}_{}", name, field.name);
                constant(of_field + "_SHIFT", field.lsb, false);
                constant(of_field + "_MASK", static_cast<std::uint32_t>(ones << field.lsb), true);
                constant(of_field + "_RESET", field.reset, true);
            }
        }
    }
}

/// `nv_small`, as part of a name.
std::string word_of(const std::string& npu) {
    std::string word;
    for (const char letter : npu) {
        word += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
    }
    return word;
}

}  // namespace

std::string registers_c_header(const FamilyRegisters& registers, const std::string& npu) {
    const std::string guard = "NPUSCOPE_REGISTERS_" + word_of(npu) + "_H";
    std::string text = fmt::format(
        "/* Registers of {0}: npuscope list registers --npu {0} --c-header\n"
        " * Addresses are byte offsets from the NPU's register base; a MASK is shifted into place, "
        "a RESET is not. */\n"
        "#ifndef {1}\n"
        "#define {1}\n",
        npu, guard);
    each_constant(registers, [&](const std::string& name, std::uint32_t value, bool hexadecimal) {
        text += hexadecimal ? fmt::format("#define {} 0x{:x}u\n", name, value)
                            : fmt::format("#define {} {}u\n", name, value);
    });
    return text + "#endif\n";
}

std::string registers_sv_package(const FamilyRegisters& registers, const std::string& npu) {
    std::string text = fmt::format(
        "// Registers of {0}: npuscope list registers --npu {0} --sv-package\n"
        "// Addresses are byte offsets from the NPU's register base; a MASK is shifted into place, "
        "a RESET is not.\npackage {1}_registers;\n",
        npu, word_of(npu));
    each_constant(registers, [&](const std::string& name, std::uint32_t value, bool hexadecimal) {
        text += hexadecimal ? fmt::format("  localparam logic [31:0] {} = 32'h{:x};\n", name, value)
                            : fmt::format("  localparam int {} = {};\n", name, value);
    });
    return text + "endpackage\n";
}

}  // namespace npuscope
