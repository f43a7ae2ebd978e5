// SPDX-License-Identifier: Apache-2.0
// A convolution (or fully connected layer) to operations: slices of channels (channel_cut.h), tiles
// of rows, bias and ReLU in the SDP's first stage, a residual in its second one.
#pragma once

#include <string>
#include <vector>

#include "sim/plan/pdp_planner.h"
#include "sim/plan/plan_context.h"
#include "sim/plan/synthetic_values.h"
#include "sim/workload/network_shapes.h"

namespace npuscope {

struct ConvTask {
    const Layer& layer;
    const LayerShapes& shapes;
    const WrittenCube& input;
    LayerValues values;
    const WrittenCube* residual = nullptr;  ///< added to the result
    bool relu_behind_residual = false;
    const LayerShapes* pool = nullptr;  ///< pools the result on the way to memory
    PoolingMethod pooling = PoolingMethod::Max;
    const PixelFormat* or_pixels = nullptr;    ///< for best_form: the input may be pixels as well
    const PixelFormat* told_pixels = nullptr;  ///< could be chosen as well as features
    InputConversion pixel_conversion{};        ///< where the input lies in memory as pixels
};

/// Whether a residual can be added on the way to memory.
inline bool can_fuse_residual(const SdpConfig& sdp) { return sdp.bn; }

/// How the operands would best lie in memory; nothing is planned.
ConvForm best_form(const ConvTask& task, PlanContext& context);

/// Adds the operations to the plan; answers where the result lies.
WrittenCube plan_conv(const ConvTask& task, PlanContext& context, ConvChoice& choice);

}  // namespace npuscope
