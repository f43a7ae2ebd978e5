// SPDX-License-Identifier: Apache-2.0
// Layers of one operation from memory to memory: a pool by the PDP, its width split where the output
// lines would not fit the line buffer, and an addition by the SDP.
#pragma once

#include <optional>
#include <vector>

#include "sim/compile/nvdla/plan_context.h"
#include "sim/model/network.h"

namespace npuscope {

/// Method, windows and strides of a layer; no parts and no output yet.
PdpPooling pooling_of(const LayerWindow& window, PoolingMethod method);

/// Whether the PDP can pool a convolution's result on its way to memory, whatever its tiles:
/// windows that neither overlap nor reach over, and lines that fit the line buffer.
bool can_fuse_pool(const LayerShapes& pool, const NpuConfig& npu);

struct PoolTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const StoredCube& input;
};
/// Adds the operation to the plan; answers where the result lies.
std::optional<StoredCube> plan_pool(const PoolTask& task, PlanContext& context);

struct AddTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const StoredCube& first;
    const StoredCube& second;
    const LayerNumbers* given = nullptr;  ///< a model's
};
/// Likewise: one source flows through, the other is the first stage's operand.
std::optional<StoredCube> plan_add(const AddTask& task, PlanContext& context);

/// For each layer the one that is done on the way of its result to memory: an add, by the SDP's
/// second stage, or a pool, by the PDP.
std::vector<std::optional<std::size_t>> choose_fusions(const Network& network,
                                                       const std::vector<LayerShapes>& shapes,
                                                       const NpuConfig& npu);

/// What stands against them: a layer that a model adds before it clips must be joined.
std::optional<Diagnostic> missing_fusion(const Network& network,
                                         const std::vector<std::optional<std::size_t>>& fused);

}  // namespace npuscope
