// SPDX-License-Identifier: Apache-2.0
// Candidates for layer patterns: from every operator that a pattern is built on, with the sequence
// after it.
#pragma once

#include <optional>

#include "sim/model/candidate.h"
#include "sim/model/graph.h"

namespace npuscope {

/// The candidate built on node `anchor`; nothing where no pattern is built on such an operator.
/// With `with_residual` false it ends before a residual.
std::optional<Candidate> read_candidate(const GraphView& view, std::size_t anchor,
                                        bool with_residual);

/// Of a pool, which `anchor` must be.
Candidate read_pool(const GraphView& view, std::size_t anchor, bool with_residual);

}  // namespace npuscope
