// SPDX-License-Identifier: Apache-2.0
// Parts of a graph that is still being read: what is known of some tensors before the rest of the
// graph is there.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/model/graph.h"

namespace npuscope {

/// Whether computing a tensor needs one of `others`, directly or not.
bool depends_on(const Graph& graph, const std::string& tensor, const std::set<std::string>& others);

/// A copy of the nodes that compute `tensors`, ordered and prepared: with all types, and tensors
/// that can be computed before anything runs as constants. ConfigError as order_nodes and
/// prepare_graph.
Graph prepared_part(const Graph& graph, const std::vector<std::string>& tensors);

}  // namespace npuscope
