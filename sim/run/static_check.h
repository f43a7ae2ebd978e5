// SPDX-License-Identifier: Apache-2.0
// What a static check of the program adds to a run: why a machine stopped or results are wrong, what
// memory and latency hide, and what lay where.
#pragma once

#include <future>
#include <optional>
#include <string>
#include <vector>

#include "sim/check/check_report.h"
#include "sim/run/result.h"
#include "sim/run/session.h"

namespace npuscope {

/// Of a register program whose machine has stopped: blocks that never start, else, where it has its
/// images, its first errors.
std::string likely_causes(const Program& program, const SystemConfig& system,
                          const RunOptions& options);

/// What a check says of the program, while the machine runs it, with the map that the options ask for;
/// nothing where no check is asked for.
std::future<CheckReport> begin_check(const Program& program, const SystemConfig& system,
                                     const RunOptions& options);

/// Why a register program came to a wrong end: who wrote the regions that are not as it expects
/// them, and what the check says; of one that came to a good end what was mere luck.
void explain(const Program& program, const SystemConfig& system,
             const std::optional<CheckReport>& checked, Result& result);

/// What lies where while the program runs, of each segment in the memory of its own machine.
std::vector<MappedBytes> memory_map(const Program& program, const SystemConfig& system);

}  // namespace npuscope
