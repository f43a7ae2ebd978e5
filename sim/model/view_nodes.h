// SPDX-License-Identifier: Apache-2.0
// Operators that give a tensor other sizes, or another type for the same numbers: nothing moves.
#pragma once

#include <map>
#include <string>

#include "sim/model/graph.h"
#include "sim/model/number_ranges.h"

namespace npuscope {

/// `facts` of the node's graph: a cast moves nothing where every number fits.
bool moves_nothing(const Graph& graph, const std::map<std::string, NumberFacts>& facts,
                   const GraphNode& node);

}  // namespace npuscope
