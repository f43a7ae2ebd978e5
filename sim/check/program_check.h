// SPDX-License-Identifier: Apache-2.0
// A driver's program held against the rules of the machine, without running it: every statement in
// order, every operation at the moment it is enabled. It finds misaligned addresses and strides,
// registers that make no job or contradict each other, surfaces outside memory or on top of each
// other, reads of uninitialised bytes, groups used in the wrong order, and operations that race.
// Values, times, and what BDMA and RUBIK move are not looked at.
#pragma once

#include "models/memory/memory_config.h"
#include "models/npu/npu_config.h"
#include "sim/check/check_report.h"
#include "sim/program/program.h"

namespace npuscope {

struct CheckTarget {
    const NpuConfig& npu;
    const MemoryConfig& memory;
};

/// ConfigError where a statement makes no sense at all.
CheckReport check_program(const Program& program, const CheckTarget& target);

}  // namespace npuscope
