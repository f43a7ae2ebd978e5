// SPDX-License-Identifier: Apache-2.0
// Output of `npuscope list`: the fields of every YAML file, what is bundled, and an NPU's registers
// as constants of other languages.
#pragma once

#include <string>
#include <vector>

#include "sim/config/npu_family.h"
#include "sim/config/system_config.h"
#include "sim/config/yaml_writer.h"

namespace npuscope {

// Every key of every YAML file that npuscope reads, from the structs' own descriptions: presets of
// NPUs and memories and the host's fields, networks, memory images and experiments.

/// A field with the legal range of its value; empty: its type defines it.
struct ListedField {
    FieldRow row;
    std::string range;
    std::string family{};     ///< for an NPU's field that not all families have
    std::string relations{};  ///< to other fields, one per line
};

/// Fields of `system`'s NPU first, then all others; of other families' NPUs too if `families` are
/// given. Names begin with `npu.`, `memory.`, `host.`, `network.`, `image.` or `experiment.`.
std::vector<ListedField> all_fields(const SystemConfig& system, NpuFamilies families);

/// The fields whose names begin with `prefix`: a paragraph each, or the rows of a table for a page
/// of docs/, named without the prefix.
std::string fields_text(const std::vector<ListedField>& fields, const std::string& prefix);
std::string fields_markdown(const std::vector<ListedField>& fields, const std::string& prefix);

// What is bundled, one line each: NPUs and memories as presets, networks, experiments.

/// NPUs with clock and size, then memories. Only names that begin with `prefix`, as all below.
std::string list_presets_text(const SystemConfig& system, NpuFamilies families,
                              const std::string& prefix);
/// Bandwidth and latency. For a memory without its own clock, as the bus of `system`'s NPU sees it.
std::string list_memories_text(const SystemConfig& system, const std::string& prefix);
/// Layers, MACs and bytes of weights.
std::string list_networks_text(const std::string& prefix);
/// What each shows.
std::string list_experiments_text(const std::string& prefix);
std::string list_sweeps_text(const std::string& prefix);

// An NPU's registers for drivers and test benches.

/// A C header: `NVDLA_CDMA_D_OP_ENABLE_0` is an address, and each of its fields has `_SHIFT`,
/// `_MASK` (in place) and `_RESET` (not shifted). The first line names `npu`.
std::string registers_c_header(const FamilyRegisters& registers, const std::string& npu);
/// The same as a SystemVerilog package.
std::string registers_sv_package(const FamilyRegisters& registers, const std::string& npu);

}  // namespace npuscope
