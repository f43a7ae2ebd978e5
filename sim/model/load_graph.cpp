// SPDX-License-Identifier: Apache-2.0
#include "sim/model/load_graph.h"

#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "sim/model/quantised_forms.h"

namespace npuscope {

Graph load_graph(const std::filesystem::path& path) { return finish_graph(read_onnx(path)); }

Graph finish_graph(Graph graph) {
    prepare_graph(graph);
    normalise_quantised(graph);
    prepare_graph(graph);
    return graph;
}

}  // namespace npuscope
