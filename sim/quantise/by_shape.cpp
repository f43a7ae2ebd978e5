// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/by_shape.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "sim/quantise/float_graph.h"
#include "sim/quantise/insert_quantisers.h"

namespace npuscope {
namespace {

/// Nodes that read a tensor.
std::vector<std::size_t> readers_of(const Graph& graph, const std::string& tensor) {
    std::vector<std::size_t> readers;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        if (std::ranges::find(graph.nodes[i].inputs, tensor) != graph.nodes[i].inputs.end()) {
            readers.push_back(i);
        }
    }
    return readers;
}

/// An input that is quantised at once is given as integers: the host that makes them is no part of
/// the model.
void take_integer_inputs(Graph& graph) {
    for (const std::string& input : graph.inputs) {
        const std::vector<std::size_t> readers = readers_of(graph, input);
        if (readers.size() != 1 || graph.nodes[readers.front()].op != "QuantizeLinear") {
            continue;
        }
        const GraphNode node = graph.nodes[readers.front()];
        const GraphValue* zero = graph.constant(node.input(2));
        if (zero == nullptr) {
            continue;
        }
        graph.types[input].element = zero->type.element;
        graph.types.erase(node.outputs.front());
        graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(readers.front()));
        for (GraphNode& reader : graph.nodes) {
            std::ranges::replace(reader.inputs, node.outputs.front(), input);
        }
    }
}

/// Likewise an output that is made floats at the end.
void give_integer_outputs(Graph& graph) {
    for (std::string& output : graph.outputs) {
        const auto node = std::ranges::find_if(graph.nodes, [&](const GraphNode& one) {
            return one.op == "DequantizeLinear" && one.outputs.front() == output;
        });
        if (node != graph.nodes.end() && readers_of(graph, output).empty()) {
            output = node->inputs.front();
            graph.nodes.erase(node);
        }
    }
}

}  // namespace

void quantise_by_shape(Graph& graph) {
    if (!is_float_model(graph)) {
        return;
    }
    ready_for_quantisation(graph);
    const Places places = find_places(GraphView(graph));
    const std::vector<Grid> grids(places.grid_count, Grid{1.0 / 16, 0});
    graph = insert_quantisers(graph, places, grids).graph;
    take_integer_inputs(graph);
    give_integer_outputs(graph);
    graph.notes.push_back(
        {.severity = Severity::Note,
         .id = "by_shape",
         .sentence =
             "the model's layers are floats and are taken as if they were quantised to int8, "
             "inputs and outputs too",
         .remedy = "for values quantise it: --inputs DIR with --calibration DIR, or `npuscope "
                   "quantise`"});
}

}  // namespace npuscope
