// SPDX-License-Identifier: Apache-2.0
// Cycles of a TINPU's layers. Weights are brought in first; then products and feature maps overlap,
// so that about the longer of them counts:
//
//     weights  bytes of packed weights
//     compute  convolutions: output places x kernels / output_lanes x taps x channels / input_lanes
//              pools: elements of all windows
//     reads    input and residual moved once, one bus beat a cycle
//     writes   likewise the output, on a channel of its own
//     set-up   layer_overhead, once a layer
//
// In the machine the unit follows pieces of the layer, each of which waits for its input and gives
// its part of the output; memory answers with its own latency and pace. `tinpu_cycles` is what
// would come out with a memory that answers at once.
//
// Deliberately not modelled: the order of the products within a place, a limit of the store for
// weights or lines; nothing that would tell them apart is public.
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
/// Products a cycle that the array could do.
double products_per_cycle(const TinpuConfig& config);
/// What the engine takes to load so many bytes of packed weights that are there.
Cycles tinpu_weight_cycles(Bytes bytes, const TinpuConfig& config);

/// A part of a layer's work, in the order of the output's bytes.
struct TinpuPiece {
    Bytes input;   ///< bytes of the input map that must have arrived, from its beginning
    Cycles work;   ///< of this piece
    Bytes output;  ///< bytes of the output that are complete after it, from its beginning
};

/// Pieces of places, or where there are few places, of their windows' rows. The last one waits for
/// the whole input; their work together is the layer's `compute`.
std::vector<TinpuPiece> tinpu_pieces(const TinpuJob& job, const TinpuConfig& config);

}  // namespace npuscope
