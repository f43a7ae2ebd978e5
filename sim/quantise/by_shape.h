// SPDX-License-Identifier: Apache-2.0
// A float model as it would be quantised, for timing only.
#pragma once

#include "sim/model/graph.h"
#include "sim/quantise/quantise_model.h"

namespace npuscope {

/// Does nothing if the graph is not a float model. `graph` is prepared, before and after; a note
/// describes what was done.
void quantise_by_shape(Graph& graph, MapType type = MapType::Int8);

}  // namespace npuscope
