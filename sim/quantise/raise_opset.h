// SPDX-License-Identifier: Apache-2.0
// Converts operators of opset 7 to 12 to opset 13. source: ONNX, Changelog.md
#pragma once

#include "sim/model/graph.h"

namespace npuscope {

/// The first opset whose DequantizeLinear has per-kernel scales.
inline constexpr std::uint32_t scales_per_kernel_opset = 13;

/// Does nothing if the graph's opset is 13 or later. `graph` is prepared and has types again
/// afterwards. ConfigError naming the node if an operator has no such form.
void raise_opset(Graph& graph);

}  // namespace npuscope
