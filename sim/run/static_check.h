// SPDX-License-Identifier: Apache-2.0
// A static check of any program, and what it adds to a run: why a machine stopped or results are
// wrong, what memory and latency hide, and what was where.
#pragma once

#include <future>
#include <optional>
#include <span>
#include <string>

#include "sim/check/check_report.h"
#include "sim/run/result.h"
#include "sim/run/session.h"

namespace npuscope {

/// For a register program whose machine has stopped: blocks that never start, else, if it has its
/// images, its first errors.
std::string likely_causes(const Program& program, const SystemConfig& system,
                          const RunOptions& options);

/// The check's report on the program, while the machine runs it, with the map that the options
/// request; nothing if no check is requested.
std::future<CheckReport> begin_check(const Program& program, const SystemConfig& system,
                                     const RunOptions& options);

/// Why a register program failed: what wrote the regions that are not as expected, and what the
/// check says; for one that passed, what was mere luck.
void explain(const Program& program, const SystemConfig& system,
             const std::optional<CheckReport>& checked, Result& result);

/// The check's report on a program of registers or of jobs, each of a model's segments in the memory
/// of its own machine. ConfigError as check_program().
CheckReport check_on(const SystemConfig& system, const Program& program, bool map = false,
                     std::span<const ProgramOutput> outputs = {});

}  // namespace npuscope
