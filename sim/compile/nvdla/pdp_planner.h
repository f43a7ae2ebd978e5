// SPDX-License-Identifier: Apache-2.0
// A pooling layer to one PDP operation from memory to memory, its width split where the output
// lines would not fit the line buffer.
#pragma once

#include "sim/compile/nvdla/plan_context.h"
#include "sim/model/network.h"

namespace npuscope {

struct PoolTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const WrittenCube& input;
};

/// Method, windows and strides of a layer; no parts and no output yet.
PdpPooling pooling_of(const LayerWindow& window, PoolingMethod method);

/// Whether the PDP can pool a convolution's result on its way to memory, whatever its tiles:
/// windows that neither overlap nor reach over, and lines that fit the line buffer.
bool can_fuse_pool(const LayerShapes& pool, const NpuConfig& npu);

/// Adds the operation to the plan; answers where the result lies.
std::optional<WrittenCube> plan_pool(const PoolTask& task, PlanContext& context);

}  // namespace npuscope
