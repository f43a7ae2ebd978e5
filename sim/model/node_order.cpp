// SPDX-License-Identifier: Apache-2.0
#include "sim/model/node_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/base/error.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

/// `made`: tensors that exist before any node has run.
void check_names(const Graph& graph, std::set<std::string> made) {
    for (const GraphNode& node : graph.nodes) {
        for (const std::string& output : node.outputs) {
            if (!output.empty() && !made.insert(output).second) {
                refuse_node(graph, node, fmt::format("two nodes produce the tensor '{}'", output),
                            "give every tensor one producer");
            }
        }
    }
    for (const GraphNode& node : graph.nodes) {
        for (const std::string& input : node.inputs) {
            if (!input.empty() && !made.contains(input)) {
                refuse_node(graph, node,
                            fmt::format("its input '{}' is neither an input of the model, nor an "
                                        "initialiser, nor the output of a node",
                                        input),
                            "a part of the model is missing, or a name is misspelled");
            }
        }
    }
    for (const std::string& output : graph.outputs) {
        if (!made.contains(output)) {
            throw ConfigError(Place{graph.file, 0, 0},
                              fmt::format("no node produces the model's output '{}'", output),
                              "a part of the model is missing, or a name is misspelled");
        }
    }
}

/// Nodes that wait for a node: the readers of its outputs.
std::vector<std::vector<std::size_t>> readers_of_nodes(const Graph& graph) {
    std::unordered_map<std::string_view, std::size_t> producers;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for (const std::string& output : graph.nodes[i].outputs) {
            producers.emplace(output, i);
        }
    }
    producers.erase("");
    std::vector<std::vector<std::size_t>> readers(graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for (const std::string& input : graph.nodes[i].inputs) {
            if (const auto producer = producers.find(input); producer != producers.end()) {
                readers[producer->second].push_back(i);
            }
        }
    }
    return readers;
}

}  // namespace

void order_nodes(Graph& graph) {
    std::set<std::string> known(graph.inputs.begin(), graph.inputs.end());  // before any node runs
    for (const auto& [name, value] : graph.constants) {
        known.insert(name);
    }
    check_names(graph, known);
    const std::vector<std::vector<std::size_t>> readers = readers_of_nodes(graph);
    std::vector<std::size_t> missing(readers.size(), 0);  // inputs not yet produced
    for (const std::vector<std::size_t>& each : readers) {
        for (const std::size_t reader : each) {
            ++missing[reader];
        }
    }
    std::vector<std::size_t> taken;  // each node after its producers
    for (std::size_t i = 0; i < missing.size(); ++i) {
        if (missing[i] == 0) {
            taken.push_back(i);
        }
    }
    std::vector<std::size_t> time(readers.size(), 0);  // pass over the file that takes the node
    for (std::size_t i = 0; i < taken.size(); ++i) {
        const std::size_t node = taken[i];
        for (const std::size_t reader : readers[node]) {
            time[reader] = std::max(time[reader], time[node] + (node > reader ? 1 : 0));
            if (--missing[reader] == 0) {
                taken.push_back(reader);
            }
        }
    }
    for (std::size_t i = 0; i < missing.size(); ++i) {
        if (missing[i] > 0) {
            refuse_node(graph, graph.nodes[i],
                        "it depends on its own output: the graph has a cycle", "remove the cycle");
        }
    }
    std::ranges::sort(taken, {}, [&](std::size_t node) { return std::pair(time[node], node); });
    std::vector<GraphNode> sorted;
    sorted.reserve(taken.size());
    for (const std::size_t node : taken) {
        sorted.push_back(std::move(graph.nodes[node]));
    }
    graph.nodes = std::move(sorted);
}

}  // namespace npuscope
