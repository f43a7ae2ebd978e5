// SPDX-License-Identifier: Apache-2.0
// What a program has left open when its run is over: statements that were never executed, checks
// that were never reached, interrupts that were awaited in vain, operations that are still enabled.
// None of it may go unnoticed, so each is an error with the place of its statement.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/npu/machine.h"
#include "sim/program/program.h"
#include "sim/run/result.h"
#include "sim/run/sync_board.h"

namespace npuscope {

struct ProgramEnd {
    std::span<const Statement> program;
    std::size_t executed = 0;  ///< statements, counted from the first
    const SyncBoard& board;
    std::uint32_t interrupt_mask = 0;
    std::vector<Machine::EnabledGroup> enabled{};
};

/// Checks that were never reached, as checks that failed.
std::vector<CheckResult> unmade_checks(const ProgramEnd& end);

/// One finding per cause: what follows from an interrupt that never came is not repeated. Empty for
/// a program that was executed to its end, including all that it awaits and enables.
Diagnostics open_ends(const ProgramEnd& end);

}  // namespace npuscope
