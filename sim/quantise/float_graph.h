// SPDX-License-Identifier: Apache-2.0
// Passes over a float model before it is quantised. It computes the same afterwards, except for
// float rounding.
#pragma once

#include <cstdint>

#include "sim/model/graph.h"

namespace npuscope {

/// Whether the layers of a prepared graph are real float layers, not integers in disguise: it has
/// products with constant weights, some of which are fractions, and no rounding.
bool is_float_model(const Graph& graph);

/// Whether it multiplies data by constant weights: Conv, ConvTranspose, Gemm or MatMul.
bool is_product(const Graph& graph, const GraphNode& node);

/// Folds per-channel operators after a product into its weights and bias, and raises the opset.
/// `graph` is prepared and has types again afterwards. ConfigError naming the node if an operator
/// has no equivalent form in opset 13.
void ready_for_quantisation(Graph& graph);

/// The first opset whose DequantizeLinear has per-kernel scales.
inline constexpr std::uint32_t scales_per_kernel_opset = 13;
/// Converts operators of opset 7 to 12 to opset 13. `graph` is prepared and has types again
/// afterwards. ConfigError naming the node if an operator has no such form.
/// source: ONNX, Changelog.md
void raise_opset(Graph& graph);

/// Products with several rows [.. R C] x [C K] as 1 x 1 convolutions over a map of C channels, R
/// rows and one column, with transposes around them: an NPU's products have one row. `graph` is
/// prepared, before and after.
void rows_as_maps(Graph& graph);

/// Channels between two layers are scaled to one range: a kernel's weights are divided by the factor
/// that the next layer's weights of that channel are multiplied by, so that one scale serves all
/// channels of the map. ReLU preserves a positive factor. `graph` comes from
/// ready_for_quantisation(). False if no two layers follow each other directly.
/// source: Nagel et al., Data-Free Quantization Through Weight Equalization and Bias Correction,
/// 2019
bool equalise_channels(Graph& graph);

// Models that are quantised only in part: some layers lack a quantiser, as those before an
// activation for which the exporter placed none. Without their quantisers they are float models,
// which can be quantised again.

/// Whether layers with constant weights are left in float. `graph` is finished (finish_graph).
bool leaves_layers_in_float(const Graph& graph);
/// Weights and biases become the floats that they stand for, and maps pass unrounded. `graph` is
/// prepared; types must be inferred again.
Graph without_quantisers(Graph graph);

}  // namespace npuscope
