// SPDX-License-Identifier: Apache-2.0
// A model of floats as it would be quantised, for its time alone.
#pragma once

#include "sim/model/graph.h"
#include "sim/quantise/quantise_model.h"

namespace npuscope {

/// Nothing where the graph is no model of floats. `graph` is prepared, and is so afterwards; a note
/// says what was done.
void quantise_by_shape(Graph& graph, MapType type = MapType::Int8);

}  // namespace npuscope
