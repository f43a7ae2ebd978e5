// SPDX-License-Identifier: Apache-2.0
// A model of floats made ready for quantisation: what follows a product number by number goes into
// its weights and bias, older forms of operators become those of opset 13, the first that has scales
// per kernel. The model gives the same numbers, but for the rounding of floats.
#pragma once

#include "sim/model/graph.h"

namespace npuscope {

/// Whether the layers of a prepared graph are floats that no integers stand behind: it has products
/// with constant weights, some of which are fractions, and nothing that rounds.
bool is_float_model(const Graph& graph);

/// The data operand's product with constant weights: Conv, ConvTranspose, Gemm or MatMul.
bool is_product(const Graph& graph, const GraphNode& node);

/// `graph` is prepared and has types again afterwards. ConfigError, with the node, where an operator
/// has no form in opset 13 that does the same.
void ready_for_quantisation(Graph& graph);

}  // namespace npuscope
