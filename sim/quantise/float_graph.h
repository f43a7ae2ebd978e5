// SPDX-License-Identifier: Apache-2.0
// Prepares a float model for quantisation: per-channel operators after a product are folded into
// its weights and bias, older operator forms become those of opset 13, the first with per-kernel
// scales. The model computes the same, except for float rounding.
#pragma once

#include "sim/model/graph.h"

namespace npuscope {

/// Whether the layers of a prepared graph are real float layers, not integers in disguise: it has
/// products with constant weights, some of which are fractions, and no rounding.
bool is_float_model(const Graph& graph);

/// Whether it multiplies data by constant weights: Conv, ConvTranspose, Gemm or MatMul.
bool is_product(const Graph& graph, const GraphNode& node);

/// `graph` is prepared and has types again afterwards. ConfigError naming the node if an operator
/// has no equivalent form in opset 13.
void ready_for_quantisation(Graph& graph);

}  // namespace npuscope
