// SPDX-License-Identifier: Apache-2.0
// Replays many rows at once: each job is a separate process, since a process has one simulation
// kernel.
#pragma once

#include <functional>
#include <vector>

#include "bench/replay.h"

namespace npuscope::bench {

/// The machine that a row is replayed on.
using SystemOfRow = std::function<SystemConfig(const ReferenceRow&)>;

/// All rows, in their order. A row of a process that ended early has that as its failure.
std::vector<ReplayedRow> replay_all(const std::vector<ReferenceRow>& rows,
                                    const SystemOfRow& system_of, unsigned jobs);

}  // namespace npuscope::bench
