// SPDX-License-Identifier: Apache-2.0
// What a static check of the program adds to a run: why a machine stopped or results are wrong,
// what memory and latency hide, and what was where.
#pragma once

#include <future>
#include <optional>
#include <string>
#include <vector>

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

/// What is where while the program runs, for each segment in the memory of its own machine.
std::vector<MappedBytes> memory_map(const Program& program, const SystemConfig& system);

}  // namespace npuscope
