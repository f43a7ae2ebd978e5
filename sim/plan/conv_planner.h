// SPDX-License-Identifier: Apache-2.0
// A convolution (or fully connected layer) to operations: slices of channels (channel_cut.h), tiles
// of rows, bias and ReLU in the SDP's first stage, a residual in its second one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/plan/plan_context.h"
#include "sim/workload/network_shapes.h"

namespace npuscope {

struct ConvTask {
    const Layer& layer;
    const LayerShapes& shapes;
    StoredCube input;
    std::optional<StoredCube> residual;  ///< added to the result
    bool relu_behind_residual = false;
    std::vector<std::size_t> after;
};

/// Whether a residual can be added on the way to memory.
inline bool can_fuse_residual(const SdpConfig& sdp) { return sdp.bn; }

/// Adds the operations to the plan; answers where the result lies.
StoredCube plan_conv(const ConvTask& task, PlanContext& context);

}  // namespace npuscope
