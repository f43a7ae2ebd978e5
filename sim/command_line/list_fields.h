// SPDX-License-Identifier: Apache-2.0
// Every key of every YAML file that npuscope reads, from the structs' own descriptions: presets of
// NPUs and memories and the host's fields, networks, memory images and experiments.
#pragma once

#include <string>
#include <vector>

#include "sim/config/system_config.h"
#include "sim/config/yaml_writer.h"

namespace npuscope {

/// A field with the range that its value must lie in; empty: its type says it all.
struct ListedField {
    FieldRow row;
    std::string range;
    std::string family{};  ///< of an NPU's field that not all families have
};

/// Fields of `system`'s NPU first, then of what else there is; of other families' NPUs too where
/// `families` are given. Names begin with `npu.`, `memory.`, `host.`, `network.`, `image.` or
/// `experiment.`.
std::vector<ListedField> all_fields(const SystemConfig& system, NpuFamilies families);

/// The fields whose names begin with `prefix`: a paragraph each, or the rows of a table for a page
/// of docs/, named without the prefix.
std::string fields_text(const std::vector<ListedField>& fields, const std::string& prefix);
std::string fields_markdown(const std::vector<ListedField>& fields, const std::string& prefix);

}  // namespace npuscope
