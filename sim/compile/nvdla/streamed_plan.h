// SPDX-License-Identifier: Apache-2.0
// A plan for a stream of frames: its operations once per frame, one frame directly after the other.
// Inputs, maps and outputs have two places in memory, which frames use in turn, so that a host
// stores the next input and fetches the last output while the NPU computes. Constants have one.
#pragma once

#include <cstddef>

#include "sim/compile/nvdla/network_planner.h"

namespace npuscope {

/// `frames` copies of every layer, in their order; the second place's inputs are images, too, named
/// `<image>_second`. A frame waits for the one before the previous, whose place it uses; then its
/// input is loaded. ConfigError where memory has no room for two places, or the plan uses the SRAM.
Plan streamed_plan(const Plan& plan, std::size_t frames, const PlanTarget& target);

}  // namespace npuscope
