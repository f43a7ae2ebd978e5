// SPDX-License-Identifier: Apache-2.0
// One plan for several NPUs that share one memory, a part for each: some rows of every layer, or
// some of the layers. Addresses stay those of the plan.
//
//     rows        NPU 1  | conv1 rows 0..55   | pool1 rows 0..27  | conv2 ...   one input; all wait
//                 NPU 2  | conv1 rows 56..111 | pool1 rows 28..55 | conv2 ...   for each other
//                                                                               after every layer
//     pipeline    NPU 1  | conv1 | pool1 | conv2 |                              each its own
//                 NPU 2  | conv3 | conv4 |                                      input
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "models/npu/npu_config.h"
#include "sim/compile/nvdla/plan.h"

namespace npuscope {

/// Plans with `PlanTarget::parts` have tiles for all parts in every convolution; layers of one row
/// stay whole. A part without an operation is possible. Layers keep the MACs that their rows need.
std::vector<Plan> share_rows(const Plan& plan, std::size_t instances, const NpuConfig& npu);

/// Consecutive layers for each part, so that the largest sum of their `cycles` is minimal; cycles
/// are those of the plan's layers. Each part is named after its first and last layer. Maps that a
/// part reads from an earlier one are not loaded by it. ConfigError where there are fewer layers
/// than instances.
std::vector<Plan> share_layers(const Plan& plan, std::span<const Cycles> cycles,
                               std::size_t instances);

}  // namespace npuscope
