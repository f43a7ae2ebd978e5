// SPDX-License-Identifier: Apache-2.0
// Products with several rows [.. R C] x [C K] as 1 x 1 convolutions over a map of C channels, R
// rows and one column, with transposes around them: an NPU's products have one row.
#pragma once

#include "sim/model/graph.h"

namespace npuscope {

/// `graph` is prepared, before and after.
void rows_as_maps(Graph& graph);

}  // namespace npuscope
