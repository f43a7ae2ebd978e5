// SPDX-License-Identifier: Apache-2.0
// Cycles of the vector unit's jobs: start_up, and one for every `lanes` elements. What memory adds
// is not here: the unit waits for real transactions, piece by piece.
#pragma once

#include <vector>

#include "vector_config.h"
#include "vector_job.h"

namespace vector_npu {

/// A part of a job, in the order of the elements.
struct VectorPiece {
    npuscope::Bytes begin;  ///< in each of the maps
    npuscope::Bytes end;
    npuscope::Cycles work;
};

/// Pieces of a buffer each.
std::vector<VectorPiece> vector_pieces(const VectorJob& job, const VectorConfig& config);
/// With a memory that answers at once and has no limit.
npuscope::Cycles vector_cycles(const VectorJob& job, const VectorConfig& config);

}  // namespace vector_npu
