// SPDX-License-Identifier: Apache-2.0
// The regions of memory that a plan uses: the first one for everything, and one behind the NPU's
// second port for results, where both are there.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/plan_context.h"

namespace npuscope {

/// ConfigError where there is none.
const MemoryRegionConfig& first_region(const MemoryConfig& memory);
/// Nothing where the NPU has no second port, or no region names bytes for surfaces.
const MemoryRegionConfig* sram_region(const PlanTarget& target);
Bytes sram_room(const MemoryRegionConfig& region);

TilingCosts costs_of(const PlanTarget& target);
std::optional<SramPlan> sram_of(const PlanTarget& target, const std::set<std::string>& results);

/// ConfigError where the first region or an address is too small for so many bytes.
void check_memory(const PlanTarget& target, Bytes bytes);

}  // namespace npuscope
