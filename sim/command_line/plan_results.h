// SPDX-License-Identifier: Apache-2.0
// What the layers of a plan leave in memory, from a run on one NPU.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/compile/nvdla/plan_program.h"
#include "sim/run/session.h"

namespace npuscope {

/// The bytes of each result, as they are when its layer has ended.
using ResultBytes = std::vector<std::vector<std::uint8_t>>;
ResultBytes simulated_results(const Program& program, std::span<const ExpectedResult> results,
                              const SystemConfig& system, RunOptions options = {});

/// zlib's CRC-32 of each.
std::vector<std::uint32_t> crcs_of(const ResultBytes& results);

}  // namespace npuscope
