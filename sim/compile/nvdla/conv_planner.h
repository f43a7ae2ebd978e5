// SPDX-License-Identifier: Apache-2.0
// A convolution (or fully connected layer) to operations: slices of channels, tiles of rows, through
// CDMA, CSC and CACC, bias and ReLU in the SDP's first stage, a residual in its second one, and the
// PDP where it pools on the way to memory.
#pragma once

#include <optional>

#include "sim/compile/nvdla/conv_slices.h"
#include "sim/compile/nvdla/conv_tiling.h"
#include "sim/compile/nvdla/plan.h"
#include "sim/compile/nvdla/plan_context.h"
#include "sim/compile/nvdla/single_operations.h"
#include "sim/compile/nvdla/synthetic_values.h"
#include "sim/model/network.h"

namespace npuscope {

/// How it would best be cut, and its operands lie in memory; nothing is planned. Nothing where the
/// layer is refused.
std::optional<ConvTiling> best_tiling(const ConvTask& task, PlanContext& context);

/// Adds the operations to the plan. Where the result lies; nothing where the layer is refused.
std::optional<StoredCube> plan_conv(const ConvTask& task, PlanContext& context, ConvChoice& choice);

}  // namespace npuscope
