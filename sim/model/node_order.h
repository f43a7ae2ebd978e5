// SPDX-License-Identifier: Apache-2.0
// The order of a graph's nodes: producers before consumers, and otherwise as the file has them.
#pragma once

#include "sim/model/graph.h"

namespace npuscope {

/// Sorts `graph.nodes` such that producers stand before consumers and keeps the file's order where
/// that is such an order: as if the file were gone through time after time, and each time every node
/// taken whose inputs are there. ConfigError, with the node, where a tensor is made twice, is not made
/// at all, or where nodes wait for each other in a circle.
void order_nodes(Graph& graph);

}  // namespace npuscope
