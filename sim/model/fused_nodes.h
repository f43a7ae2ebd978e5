// SPDX-License-Identifier: Apache-2.0
// Nodes that stand for several operators, as those operators, so that they are quantised and planned
// like them: those into which ONNX Runtime fuses (Attention, FusedConv, FusedGemm, FusedMatMul,
// MatMulNBits of 4 and 8 bits, SkipLayerNormalization and SkipSimplifiedLayerNormalization of
// com.microsoft, and SimplifiedLayerNormalization), and ONNX's Attention and RotaryEmbedding.
// source: ONNX Runtime, ContribOperators.md; ONNX, Operators.md, functions of opset 23 and 24
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/model/graph.h"

namespace npuscope {

/// What is known of the graph around a node.
struct FusedSurroundings {
    std::uint32_t opset = 0;
    /// The type of an input of the node.
    std::function<TensorType(const std::string&)> type{};
    /// The value of a constant; null for any other tensor.
    std::function<const GraphValue*(const std::string&)> constant{};
    /// A name that no tensor has, similar to the given one.
    std::function<std::string(const std::string&)> new_name{};
};

struct FusedParts {
    std::vector<GraphNode> nodes;  ///< producers before consumers
    std::vector<std::pair<std::string, GraphValue>> constants;
};

/// The operators of such nodes, by name.
std::vector<std::string> fused_operators();
/// Whether a node of this operator may have parts.
bool is_fused(std::string_view op);
/// The operators that the node stands for; none if it is not such a node, or has a form that is not
/// supported.
FusedParts parts_of_fused(const GraphNode& node, const FusedSurroundings& around);

}  // namespace npuscope
