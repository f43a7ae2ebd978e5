// SPDX-License-Identifier: Apache-2.0
// Nodes in order of execution.
#pragma once

#include "sim/model/graph.h"

namespace npuscope {

/// Sorts `graph.nodes` such that producers stand before consumers and keeps the file's order where
/// it is one. ConfigError, with the node, where a tensor is made twice, is not made at all, or where
/// nodes wait for each other in a circle.
void order_nodes(Graph& graph);

}  // namespace npuscope
