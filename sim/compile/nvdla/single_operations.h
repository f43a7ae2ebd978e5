// SPDX-License-Identifier: Apache-2.0
// Layers of one operation from memory to memory: a pool by the PDP, its width split where the output
// lines would not fit the line buffer, and an addition by the SDP.
#pragma once

#include <optional>

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

}  // namespace npuscope
