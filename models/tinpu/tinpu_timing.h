// SPDX-License-Identifier: Apache-2.0
// Cycles of a TINPU's layers. Compute and memory overlap, so that the longer of the two counts:
//
//     compute  output steps x (products' steps x cycles_per_step + store_cycles) + rows
//     memory   every map, weight and constant moved once, bus_width bytes a cycle
//     set-up   layer_overhead, once a layer
//
// Deliberately not modelled: waits between single accesses; what would tell them apart is not
// public.
#pragma once

#include <string_view>

#include "models/tinpu/tinpu_config.h"
#include "models/tinpu/tinpu_job.h"

namespace npuscope {

struct TinpuCycles {
    Cycles compute;
    Cycles memory;
    Cycles set_up;

    Cycles total() const { return std::max(compute, memory) + set_up; }
    /// `mac`, `memory` or `set_up`: which of the parts is the largest.
    std::string_view bound_by() const;
};

/// Bytes that a layer reads and writes.
struct TinpuTraffic {
    Bytes read;
    Bytes written;
};

TinpuCycles tinpu_cycles(const TinpuJob& job, const TinpuConfig& config);
TinpuTraffic tinpu_traffic(const TinpuJob& job);

}  // namespace npuscope
