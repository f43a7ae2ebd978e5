// SPDX-License-Identifier: Apache-2.0
// Products of several rows [.. R C] x [C K] as convolutions of 1 x 1 over a map of C channels, R rows and
// one column, with what turns the tensor before and after them: an NPU's products have one row.
#pragma once

#include "sim/model/graph.h"

namespace npuscope {

/// `graph` is prepared, and is again afterwards.
void rows_as_maps(Graph& graph);

}  // namespace npuscope
