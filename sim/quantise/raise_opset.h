// SPDX-License-Identifier: Apache-2.0
// Operators of opset 7 to 12 in their forms of opset 13. source: ONNX, Changelog.md
#pragma once

#include "sim/model/graph.h"

namespace npuscope {

/// The first opset whose DequantizeLinear has a scale per kernel.
inline constexpr std::uint32_t scales_per_kernel_opset = 13;

/// Nothing where the graph's opset is 13 or later. `graph` is prepared and has types again
/// afterwards. ConfigError, with the node, for an operator that has no such form.
void raise_opset(Graph& graph);

}  // namespace npuscope
