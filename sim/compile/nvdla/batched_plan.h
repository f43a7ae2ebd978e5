// SPDX-License-Identifier: Apache-2.0
// A plan for several inputs at once. Inputs, maps and outputs have a place in memory for each of them,
// all the same distance apart; constants have one. Layer by layer all inputs are computed: by
// operations of several inputs (multi-batch mode, D_BATCH_NUMBER), which fetch their weights once,
// where that is predicted to take fewer cycles, else one input after the other.
//
// Operations of several inputs are direct convolutions that leave through the SDP to memory, with
// operands for each channel at most: the PDP knows one cube alone. Not modelled: operands for each
// element of several cubes. source: NVDLA_SDP.rdl, D_DST_BATCH_STRIDE, BATCH_NUMBER
#pragma once

#include <cstddef>
#include <optional>

#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/nvdla_target.h"

namespace npuscope {

struct BatchedPlan {
    Plan plan;
    Bytes distance;  ///< from the place of an input, a map or an output to the next one
    std::size_t shared_layers = 0;  ///< whose operations take several inputs
};

/// Nothing where the memory has no room for so many places, or the plan uses the SRAM, which has one
/// place for each map. `inputs` is at least 1.
std::optional<BatchedPlan> batched_plan(Plan plan, std::uint32_t inputs, const PlanTarget& target);

/// A model's plan for so many inputs at once; nothing where one of its segments has none.
std::optional<SegmentedPlan> batched_segments(SegmentedPlan plan, std::uint32_t inputs,
                                              const PlanTarget& target);

/// Inputs that one operation takes at most; 1: the NPU has no multi-batch mode.
std::uint32_t most_batches(const NpuConfig& npu);

}  // namespace npuscope
