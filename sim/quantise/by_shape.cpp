// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "sim/quantise/float_graph.h"
#include "sim/quantise/insert_quantisers.h"
#include "sim/quantise/quantise_model.h"

namespace npuscope {
namespace {

/// An input that is quantised immediately is given as integers: the host that produces it is not
/// part of the model.
void take_integer_inputs(Graph& graph) {
    for (const std::string& input : graph.inputs) {
        const auto reader = GraphView(graph).only_reader(input);
        if (!reader || graph.nodes[*reader].op != "QuantizeLinear") {
            continue;
        }
        const GraphNode node = graph.nodes[*reader];
        const GraphValue* zero = graph.constant(node.input(2));
        if (zero == nullptr) {
            continue;
        }
        graph.types[input].element = zero->type.element;
        graph.types.erase(node.outputs.front());
        graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(*reader));
        for (GraphNode& other : graph.nodes) {
            std::ranges::replace(other.inputs, node.outputs.front(), input);
        }
    }
}

/// The same for an output that is converted to float at the end.
void give_integer_outputs(Graph& graph) {
    for (std::string& output : graph.outputs) {
        const GraphView view(graph);
        const auto node = view.producer(output);
        if (node && view.node(*node).op == "DequantizeLinear" && view.readers(output) == 0) {
            output = view.node(*node).inputs.front();
            graph.nodes.erase(graph.nodes.begin() + static_cast<std::ptrdiff_t>(*node));
        }
    }
}

/// The range of 16-bit maps ends at the narrowest clip, like ranges from calibration: the NPU clips
/// only at the ends of its integers.
Grid wide_grid(const Graph& graph) {
    double end = 2048;  // steps of 1/16, as for 8 bits
    for (const GraphNode& node : graph.nodes) {
        const GraphValue* high = node.op == "Clip" ? graph.constant(node.input(2)) : nullptr;
        if (high != nullptr && high->numbers.size() == 1 && high->numbers.front() > 0) {
            end = std::min(end, high->numbers.front());
        }
    }
    return grid_of({0, end}, ElementType::Int16);
}

}  // namespace

void quantise_by_shape(Graph& graph, MapType type) {
    if (!is_float_model(graph)) {
        return;
    }
    ready_for_quantisation(graph);
    if (type != MapType::Int8) {  // for int8, this is done for the selected NPU
        rows_as_maps(graph);
    }
    const Places places = find_places(GraphView(graph));
    if (type == MapType::Fp16) {
        graph = half_floats(graph, places).graph;
    } else {
        const bool wide = type == MapType::Int16;
        const std::vector<Grid> grids(places.grid_count,
                                      wide ? wide_grid(graph) : Grid{1.0 / 16, 0});
        graph =
            insert_quantisers(graph, places, grids, wide ? ElementType::Int16 : ElementType::Int8)
                .graph;
        take_integer_inputs(graph);
        give_integer_outputs(graph);
    }
    graph.notes.push_back(
        {.severity = Severity::Note,
         .id = "by_shape",
         .sentence = fmt::format("the model's float layers are simulated as if quantised to {}{}",
                                 enum_name(type),
                                 type == MapType::Fp16 ? "" : ", including inputs and outputs"),
         .remedy = "to compute values, quantise the model: --inputs DIR with --calibration DIR, or "
                   "`npuscope quantise`"});
}

}  // namespace npuscope
