// SPDX-License-Identifier: Apache-2.0
// What a machine has counted, as reported in a result.
#pragma once

#include <vector>

#include "models/memory/memory.h"
#include "models/npu/machine.h"
#include "sim/run/result.h"

namespace npuscope {

/// Traffic, ports, units and the DRAM activity of the memory.
void count_machine(Machine& machine, const Memory& memory, Result& result);
/// Adds to operations the traffic of each.
void add_operation_counts(const Machine& machine, std::vector<OperationRecord>& operations);

}  // namespace npuscope
