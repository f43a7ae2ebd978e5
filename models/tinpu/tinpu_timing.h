// SPDX-License-Identifier: Apache-2.0
// Cycles of a TINPU's layers. Weights are loaded first; then MACs and feature map transfers
// overlap, so that roughly the longer of them counts:
//
//     weights  bytes of packed weights
//     compute  convolutions: positions x kernels / output_lanes x taps x channels / input_lanes
//              pools: elements of all windows
//     reads    input and residual moved once, one bus beat a cycle
//     writes   the output in the same way, on its own channel
//     set-up   layer_overhead, once per layer
//
// In the machine the unit follows pieces of the layer, each of which waits for its input and
// produces its part of the output; memory answers with its own latency and pace. `tinpu_cycles` is
// the result with a memory that answers immediately.
//
// Deliberately not modelled: the order of the MACs within a position, a limit of the store for
// weights or lines; nothing that would distinguish them is public.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "models/tinpu/tinpu_job.h"

namespace npuscope {

struct TinpuCycles {
    Cycles weights;
    Cycles compute;
    Cycles reads;
    Cycles writes;
    Cycles set_up;

    Cycles memory() const { return std::max(reads, writes); }
    Cycles total() const { return weights + std::max(compute, memory()) + set_up; }
};

/// Bytes that a layer reads and writes.
struct TinpuTraffic {
    Bytes read;  ///< all: feature maps, weights, constants
    Bytes written;
    Bytes weights;    ///< part of `read`
    Bytes constants;  ///< part of `read`

    Bytes maps() const { return read - weights - constants; }
};

/// `bus_width`: bytes of a beat.
TinpuCycles tinpu_cycles(const TinpuJob& job, const TinpuConfig& config, Bytes bus_width);
TinpuTraffic tinpu_traffic(const TinpuJob& job);
/// MACs per cycle that the array could do.
double products_per_cycle(const TinpuConfig& config);
/// Cycles that the engine needs to load `bytes` bytes of packed weights that have arrived.
Cycles tinpu_weight_cycles(Bytes bytes, const TinpuConfig& config);

/// A part of a layer's work, in the order of the output's bytes.
struct TinpuPiece {
    Bytes input;   ///< bytes of the input map that must have arrived, from its beginning
    Cycles work;   ///< of this piece
    Bytes output;  ///< bytes of the output that are complete after it, from its beginning
};

/// Pieces of output positions, or if there are few of these, of their windows' rows. The last one
/// waits for the whole input; their total work is the layer's `compute`.
std::vector<TinpuPiece> tinpu_pieces(const TinpuJob& job, const TinpuConfig& config);

}  // namespace npuscope
