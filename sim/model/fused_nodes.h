// SPDX-License-Identifier: Apache-2.0
// Nodes into which ONNX Runtime fuses several operators, as those operators, so that they are
// quantised and planned like them: Attention, FusedConv, FusedGemm, FusedMatMul, MatMulNBits (4 and
// 8 bits), SkipLayerNormalization and SkipSimplifiedLayerNormalization of com.microsoft, and
// SimplifiedLayerNormalization.
// source: ONNX Runtime, ContribOperators.md
#pragma once

#include <functional>
#include <string>
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
/// By its operator: whether a node may have parts.
bool is_fused(const GraphNode& node);
/// The operators that the node stands for; none if it is not such a node, or has a form that is not
/// supported.
FusedParts parts_of_fused(const GraphNode& node, const FusedSurroundings& around);

}  // namespace npuscope
