// SPDX-License-Identifier: Apache-2.0
// A network on several NPUs at once: each takes some of its layers, or of the rows of every layer.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/compile/nvdla/plan.h"
#include "sim/run/session.h"

namespace npuscope {

/// The plan whose convolutions so many NPUs can share by rows; with images where values are wanted.
using PlanForParts = std::function<Plan(std::uint32_t parts)>;

/// RunOptions::instances of them, at least 2. With values, the result of every layer is held against
/// that of one NPU. ConfigError where the network cannot be shared so.
Result run_shared(NetworkSplit by, const PlanForParts& plan_for, const SystemConfig& system,
                  RunOptions options);

}  // namespace npuscope
