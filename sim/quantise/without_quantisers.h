// SPDX-License-Identifier: Apache-2.0
// Models that are quantised only in part: some layers lack a quantiser, as those before an
// activation for which the exporter placed none. Without their quantisers they are float models,
// which can be quantised again.
#pragma once

#include "sim/model/graph.h"

namespace npuscope {

/// Whether layers with constant weights are left in float. `graph` is finished (finish_graph).
bool leaves_layers_in_float(const Graph& graph);

/// Weights and biases become the floats that they stand for, and maps pass unrounded. `graph` is
/// prepared; types must be inferred again.
Graph without_quantisers(Graph graph);

}  // namespace npuscope
