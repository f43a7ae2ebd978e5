// SPDX-License-Identifier: Apache-2.0
// The order of a graph's nodes: producers before consumers, and otherwise as the file has them.
// How omitted outputs of nodes are named.
#pragma once

#include <string_view>

#include "sim/model/graph.h"

namespace npuscope {

/// End of the name of a first output that the model omits: nodes are known by their first output.
inline constexpr std::string_view omitted_output = ".omitted";

/// Sorts `graph.nodes` so that producers come before consumers, and keeps the file's order where it
/// already satisfies this: as if by repeated passes over the file that each take every node whose
/// inputs are available. ConfigError naming the node if a tensor is produced twice or not at all,
/// or if nodes form a cycle.
void order_nodes(Graph& graph);

}  // namespace npuscope
