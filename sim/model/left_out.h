// SPDX-License-Identifier: Apache-2.0
// Nodes that a graph is prepared without, because the sizes of their results are unknown: the
// operator is, or sizes are computed when values are.
#pragma once

#include <set>
#include <span>
#include <string>

#include "sim/model/graph.h"
#include "sim/model/operators.h"

namespace npuscope {

/// An operand that determines sizes and is not a constant; null if there is none.
const std::string* computed_sizing(const Graph& graph, const OperatorRow& row,
                                   const GraphNode& node);

/// Whether values end at a node, which comes before `rest`: its results have sizes that are known
/// only at run time, as those of a NonMaxSuppression, and no layer with weights needs them.
/// `unsized`: tensors of nodes that were left out.
bool ends_values(const Graph& graph, const GraphNode& node, std::span<const GraphNode> rest,
                 const std::set<std::string>& unsized);

/// Why the sizes of a node's results are unknown; empty: they are known, or another error will say.
/// `is_stated`: the model states their types.
std::string reason_to_leave_out(const Graph& graph, const GraphNode& node,
                                const std::set<std::string>& unsized, bool is_stated);

}  // namespace npuscope
