// SPDX-License-Identifier: Apache-2.0
// Cycles of a TINPU's layers. Weights are brought in first; then products and feature maps overlap,
// so that the longer of the two counts:
//
//     weights  bytes of packed weights
//     compute  convolutions: output places x kernels / output_lanes x taps x channels / input_lanes
//              pools: elements of all windows
//     memory   every map and every constant moved once, bus_width bytes a cycle
//     set-up   layer_overhead, once a layer
//
// Deliberately not modelled: waits between single accesses, what a wider bus to flash would change;
// nothing that would tell them apart is public.
#pragma once

#include <algorithm>
#include <string_view>

#include "models/tinpu/tinpu_config.h"
#include "models/tinpu/tinpu_job.h"

namespace npuscope {

struct TinpuCycles {
    Cycles weights;
    Cycles compute;
    Cycles memory;
    Cycles set_up;

    /// What feature maps take longer than the products that they overlap.
    Cycles uncovered_memory() const { return memory > compute ? memory - compute : Cycles(0); }
    Cycles total() const { return weights + std::max(compute, memory) + set_up; }
    /// `mac`, `memory`, `weight_fetch` or `set_up`: which of the parts is the largest.
    std::string_view bound_by() const;
};

/// Bytes that a layer reads and writes.
struct TinpuTraffic {
    Bytes read;  ///< all: feature maps, weights, constants
    Bytes written;
    Bytes weights;    ///< part of `read`
    Bytes constants;  ///< part of `read`

    Bytes maps() const { return read - weights - constants; }
};

TinpuCycles tinpu_cycles(const TinpuJob& job, const TinpuConfig& config);
TinpuTraffic tinpu_traffic(const TinpuJob& job);

}  // namespace npuscope
