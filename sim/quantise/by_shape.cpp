// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/by_shape.h"

#include <vector>

#include "sim/quantise/float_graph.h"
#include "sim/quantise/insert_quantisers.h"

namespace npuscope {

void quantise_by_shape(Graph& graph) {
    if (!is_float_model(graph)) {
        return;
    }
    ready_for_quantisation(graph);
    const Places places = find_places(GraphView(graph));
    const std::vector<Grid> grids(places.grid_count, Grid{1.0 / 16, 0});
    graph = insert_quantisers(graph, places, grids).graph;
    graph.notes.push_back(
        {.severity = Severity::Note,
         .id = "by_shape",
         .sentence =
             "the model's layers are floats and are taken as if they were quantised to int8",
         .remedy = "for values quantise it: --inputs DIR with --calibration DIR, or `npuscope "
                   "quantise`"});
}

}  // namespace npuscope
