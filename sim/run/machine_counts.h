// SPDX-License-Identifier: Apache-2.0
// What a machine has counted, as a result tells it.
#pragma once

#include <vector>

#include "models/memory/memory.h"
#include "models/npu/machine.h"
#include "sim/run/result.h"

namespace npuscope {

/// Traffic, ports, units and what the memory's DRAM did.
void count_machine(Machine& machine, const Memory& memory, Result& result);
/// Adds to operations what each of them moved.
void add_operation_counts(const Machine& machine, std::vector<OperationRecord>& operations);

}  // namespace npuscope
