// SPDX-License-Identifier: Apache-2.0
// A plan for several inputs at once. Inputs, maps and outputs have one place in memory per input,
// all the same distance apart; constants have one. All inputs are computed layer by layer: by
// operations on several inputs (multi-batch mode, D_BATCH_NUMBER), which fetch their weights once,
// where that is predicted to take fewer cycles, otherwise one input after the other.
//
// Operations on several inputs are direct convolutions that go through the SDP to memory, with
// operands per channel at most: the PDP supports one cube only. Not modelled: operands per element
// of several cubes. source: NVDLA_SDP.rdl, D_DST_BATCH_STRIDE, BATCH_NUMBER
#pragma once

#include <cstddef>
#include <optional>

#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/nvdla_target.h"

namespace npuscope {

struct BatchedPlan {
    Plan plan;
    Bytes distance;                 ///< between the places of an input, a map or an output
    std::size_t shared_layers = 0;  ///< whose operations compute several inputs
};

/// Nothing where the memory has no room for this many places, or the plan uses the SRAM, which has
/// one place per map. `inputs` is at least 1.
std::optional<BatchedPlan> batched_plan(Plan plan, std::uint32_t inputs, const PlanTarget& target);

/// A model's plan for `inputs` inputs at once; nothing where one of its segments has none.
std::optional<SegmentedPlan> batched_segments(SegmentedPlan plan, std::uint32_t inputs,
                                              const PlanTarget& target);

/// Most inputs of one operation; 1: the NPU has no multi-batch mode.
std::uint32_t most_batches(const NpuConfig& npu);

}  // namespace npuscope
