// SPDX-License-Identifier: Apache-2.0
// A convolution (or fully connected layer) to operations: slices of channels (channel_cut.h), tiles
// of rows, bias and ReLU in the SDP's first stage, a residual in its second one.
#pragma once

#include "sim/compile/nvdla/conv_task.h"

namespace npuscope {

/// Whether a residual can be added on the way to memory.
inline bool can_fuse_residual(const SdpConfig& sdp) { return sdp.bn; }

/// How it would best be cut, and its operands lie in memory; nothing is planned.
ConvTiling best_tiling(const ConvTask& task, PlanContext& context);

/// Adds the operations to the plan; answers where the result lies.
WrittenCube plan_conv(const ConvTask& task, PlanContext& context, ConvChoice& choice);

}  // namespace npuscope
