// SPDX-License-Identifier: Apache-2.0
#include "sim/model/graph_part.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "sim/model/node_order.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

/// Tensors that some tensors are computed from, and themselves.
std::set<std::string> sources_of(const Graph& graph, std::vector<std::string> tensors) {
    std::unordered_map<std::string, const GraphNode*> producers;
    for (const GraphNode& node : graph.nodes) {
        for (const std::string& output : node.outputs) {
            producers.emplace(output, &node);
        }
    }
    std::set<std::string> sources;
    while (!tensors.empty()) {
        const std::string tensor = std::move(tensors.back());
        tensors.pop_back();
        if (tensor.empty() || !sources.insert(tensor).second) {
            continue;
        }
        if (const auto producer = producers.find(tensor); producer != producers.end()) {
            const GraphNode& node = *producer->second;
            tensors.insert(tensors.end(), node.inputs.begin(), node.inputs.end());
        }
    }
    return sources;
}

}  // namespace

bool depends_on(const Graph& graph, const std::string& tensor,
                const std::set<std::string>& others) {
    const std::set<std::string> sources = sources_of(graph, {tensor});
    return std::ranges::any_of(others,
                               [&](const std::string& other) { return sources.contains(other); });
}

Graph prepared_part(const Graph& graph, const std::vector<std::string>& tensors) {
    const std::set<std::string> sources = sources_of(graph, tensors);
    Graph part;
    part.name = graph.name;
    part.file = graph.file;
    part.opset = graph.opset;
    part.by_shape = graph.by_shape;
    part.types = graph.types;
    part.outputs = tensors;
    std::ranges::copy_if(graph.inputs, std::back_inserter(part.inputs),
                         [&](const std::string& input) { return sources.contains(input); });
    if (part.by_shape) {  // so that something is left where the sizes of all others are unknown
        part.outputs.insert(part.outputs.end(), part.inputs.begin(), part.inputs.end());
    }
    for (const auto& [name, value] : graph.constants) {
        if (sources.contains(name)) {
            part.constants.emplace(name, value);
        }
    }
    for (const GraphNode& node : graph.nodes) {
        if (std::ranges::any_of(node.outputs, [&](const std::string& output) {
                return sources.contains(output);
            })) {
            part.nodes.push_back(node);
        }
    }
    order_nodes(part);
    prepare_graph(part);
    return part;
}

}  // namespace npuscope
