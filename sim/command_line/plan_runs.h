// SPDX-License-Identifier: Apache-2.0
// Runs of a plan in addition to the one for its values: for what its layers leave in memory, as a
// stream of frames, and shared by several NPUs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/run/session.h"

namespace npuscope {

// Several NPUs at once: each computes some of the layers, or some rows of every layer.

/// The plan whose convolutions this many NPUs can share by rows; with images if values are wanted.
using PlanForParts = std::function<Plan(std::uint32_t parts)>;

/// RunOptions::instances of them, at least 2. With values, the result of every layer is compared
/// with that of one NPU. ConfigError if the network cannot be shared this way.
Result run_shared(NetworkSplit by, const PlanForParts& plan_for, const SystemConfig& system,
                  RunOptions options);

// A stream of frames through a network: while the NPU computes one, the host stores the next input
// and reads the last output. What one frame costs, and how soon the next one follows.

/// Simulates `frames` of a plan for their timing only. ConfigError as from streamed_plan().
StreamRecord simulate_stream(const Plan& plan, std::size_t frames, const PlanTarget& target,
                             const SystemConfig& system, Cycles max_cycles);

/// For a model in parts, from the cycles of one frame: NPU and host work at once, each on a
/// different frame.
StreamRecord estimate_stream(const Result& frame, std::size_t frames);

/// In parallel with the NPU, a host computes the parts of a frame before and after it.
void add_host(StreamRecord& stream, Cycles host);

// What the layers of a plan leave in memory, from a run on one NPU.

/// The bytes of each result as they are when its layer has ended.
using ResultBytes = std::vector<std::vector<std::uint8_t>>;
ResultBytes simulated_results(const Program& program, std::span<const ExpectedResult> results,
                              const SystemConfig& system, RunOptions options = {});

/// zlib's CRC-32 of each.
std::vector<std::uint32_t> crcs_of(const ResultBytes& results);

}  // namespace npuscope
