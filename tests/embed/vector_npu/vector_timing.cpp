// SPDX-License-Identifier: Apache-2.0
#include "vector_timing.h"

#include <algorithm>

namespace vector_npu {

using npuscope::Bytes;
using npuscope::Cycles;

std::vector<VectorPiece> vector_pieces(const VectorJob& job, const VectorConfig& config) {
    std::vector<VectorPiece> pieces;
    for (Bytes begin; begin < job.map_bytes(); begin += config.buffer) {
        const Bytes end = std::min(begin + config.buffer, job.map_bytes());
        const std::uint64_t elements = (end - begin).value / sizeof(npuscope::Fp16);
        pieces.push_back({begin, end, Cycles(npuscope::divide_up(elements, config.lanes))});
    }
    return pieces;
}

Cycles vector_cycles(const VectorJob& job, const VectorConfig& config) {
    Cycles cycles = config.start_up;
    for (const VectorPiece& piece : vector_pieces(job, config)) {
        cycles += piece.work;
    }
    return cycles;
}

}  // namespace vector_npu
