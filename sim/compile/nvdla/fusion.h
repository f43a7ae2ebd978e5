// SPDX-License-Identifier: Apache-2.0
// Which layer is done on the way of a convolution's result to memory: an add, by the SDP's second
// stage, or a pool, by the PDP. It must be the result's only reader; an add's other source is
// older.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/npu/npu_config.h"
#include "sim/model/network.h"

namespace npuscope {

/// What stands against them: a layer that a model adds before it clips must be joined.
std::optional<Diagnostic> missing_fusion(const Network& network,
                                         const std::vector<std::optional<std::size_t>>& fused);

/// For each layer the one that is joined to it.
std::vector<std::optional<std::size_t>> choose_fusions(const Network& network,
                                                       const std::vector<LayerShapes>& shapes,
                                                       const NpuConfig& npu);

}  // namespace npuscope
