// SPDX-License-Identifier: Apache-2.0
// What is bundled, a line each: NPUs and memories as presets, networks, experiments.
#pragma once

#include <string>

#include "sim/config/system_config.h"

namespace npuscope {

/// NPUs with clock and size, then memories. Of names that begin with `prefix`, as all below.
std::string list_presets_text(const SystemConfig& system, NpuFamilies families,
                              const std::string& prefix);
/// Bandwidth and latency. Of a memory that has no clock of its own, as the bus of `system`'s NPU
/// sees it.
std::string list_memories_text(const SystemConfig& system, const std::string& prefix);
/// Layers, MACs and bytes of weights.
std::string list_networks_text(const std::string& prefix);
/// What each shows.
std::string list_experiments_text(const std::string& prefix);
std::string list_sweeps_text(const std::string& prefix);

}  // namespace npuscope
