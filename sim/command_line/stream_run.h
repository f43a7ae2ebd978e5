// SPDX-License-Identifier: Apache-2.0
// A stream of frames through a network: while the NPU computes one, the host stores the next input
// and takes the last output. What one frame costs, and how soon the next one follows.
#pragma once

#include <cstddef>

#include "sim/compile/nvdla/network_planner.h"
#include "sim/run/session.h"

namespace npuscope {

/// Simulates `frames` of a plan for their time alone. ConfigError as of streamed_plan().
StreamRecord simulate_stream(const Plan& plan, std::size_t frames, const PlanTarget& target,
                             const SystemConfig& system, Cycles max_cycles);

/// Of a model in parts, from the cycles of one frame: NPU and host work at once, each on another
/// frame.
StreamRecord estimate_stream(const Result& frame, std::size_t frames);

/// Beside the NPU a host computes what a frame takes on it before and after.
void add_host(StreamRecord& stream, Cycles host);

}  // namespace npuscope
