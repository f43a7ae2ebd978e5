// SPDX-License-Identifier: Apache-2.0
// What to change where a network cannot be planned for want of room: values of the field that the
// refusal names, found by planning the network with them.
#pragma once

#include "models/base/diagnostic.h"
#include "sim/compile/nvdla/network_planner.h"

namespace npuscope {

/// The field that a refusal names where a network does not fit the memory.
inline constexpr const char* region_size = "memory.regions[0].size";

/// Writes them into the problem's remedy: the least depth and the fewest banks of the convolution
/// buffer, or a size of the memory. The problem stays as it is where none helps.
void name_values_that_plan(const Network& network, const PlanTarget& target, Diagnostic& problem);

}  // namespace npuscope
