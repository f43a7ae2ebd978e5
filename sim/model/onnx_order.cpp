// SPDX-License-Identifier: Apache-2.0
#include "sim/model/onnx_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "models/base/error.h"

namespace npuscope {
namespace {

[[noreturn]] void refuse(const Graph& graph, const GraphNode& node, const std::string& sentence,
                         const std::string& remedy) {
    throw ConfigError(Place{graph.file, 0, 0},
                      fmt::format("node {}: {}", node_text(node), sentence), remedy);
}

/// Tensors that exist before any node has run.
std::set<std::string> given_tensors(const Graph& graph) {
    std::set<std::string> given(graph.inputs.begin(), graph.inputs.end());
    for (const auto& [name, value] : graph.constants) {
        given.insert(name);
    }
    return given;
}

void check_names(const Graph& graph, const std::set<std::string>& given) {
    std::set<std::string> made = given;
    for (const GraphNode& node : graph.nodes) {
        for (const std::string& output : node.outputs) {
            if (!output.empty() && !made.insert(output).second) {
                refuse(graph, node, fmt::format("the tensor '{}' is made twice", output),
                       "give every tensor one producer");
            }
        }
    }
    for (const GraphNode& node : graph.nodes) {
        for (const std::string& input : node.inputs) {
            if (!input.empty() && !made.contains(input)) {
                refuse(graph, node,
                       fmt::format("its input '{}' is neither an input of the model, nor an "
                                   "initialiser, nor made by a node",
                                   input),
                       "the model lost a part, or a name is misspelled");
            }
        }
    }
    for (const std::string& output : graph.outputs) {
        if (!made.contains(output)) {
            throw ConfigError(Place{graph.file, 0, 0},
                              fmt::format("nothing makes the model's output '{}'", output),
                              "the model lost a part, or a name is misspelled");
        }
    }
}

bool is_ready(const GraphNode& node, const std::set<std::string>& known) {
    return std::all_of(node.inputs.begin(), node.inputs.end(), [&](const std::string& input) {
        return input.empty() || known.contains(input);
    });
}

}  // namespace

void order_nodes(Graph& graph) {
    std::set<std::string> known = given_tensors(graph);
    check_names(graph, known);
    std::vector<GraphNode> waiting = std::move(graph.nodes);
    graph.nodes.clear();
    while (!waiting.empty()) {
        std::vector<GraphNode> later;
        for (GraphNode& node : waiting) {
            if (!is_ready(node, known)) {
                later.push_back(std::move(node));
                continue;
            }
            known.insert(node.outputs.begin(), node.outputs.end());
            graph.nodes.push_back(std::move(node));
        }
        if (later.size() == waiting.size()) {
            refuse(graph, later.front(),
                   "it waits for its own output: the graph has a cycle through it or above it",
                   "a network's graph has no cycles");
        }
        waiting = std::move(later);
    }
}

}  // namespace npuscope
