// SPDX-License-Identifier: Apache-2.0
// A driver's program held against the rules of the machine, without running it: every statement in
// order, every operation at the moment it is enabled. Found are misaligned addresses and strides,
// registers that make no job or contradict each other, surfaces outside memory or on top of each
// other, reads of bytes that nobody put there, groups used out of turn, and operations that race.
// Not looked at: values, times, BDMA and RUBIK.
#pragma once

#include "models/memory/memory_config.h"
#include "models/npu/npu_config.h"
#include "sim/check/found.h"
#include "sim/program/program.h"

namespace npuscope {

struct CheckTarget {
    const NpuConfig& npu;
    const MemoryConfig& memory;
};

/// ConfigError where a statement makes no sense at all.
CheckReport check_program(const Program& program, const CheckTarget& target);

}  // namespace npuscope
