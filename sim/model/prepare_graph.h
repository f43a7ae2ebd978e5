// SPDX-License-Identifier: Apache-2.0
// Makes a graph that was read fit to be used: constants are folded (but for DequantizeLinear, whose
// integers somebody may still want), every tensor has a type, and what the operators demand of
// operands and attributes holds.
#pragma once

#include "sim/model/graph.h"

namespace npuscope {

/// ConfigError with file and node: for an operator that cannot be, a shape that depends on numbers
/// that are not constant, a type that contradicts what the file states, a division by zero. A node
/// whose operator is unknown stays where the file states the types of its outputs.
void prepare_graph(Graph& graph);

/// Runs `work` on a node; its ConfigErrors get file and node.
template <class Work>
auto at_node(const Graph& graph, const GraphNode& node, Work work);

/// Throws `sentence` about a node.
[[noreturn]] void refuse_node(const Graph& graph, const GraphNode& node,
                              const std::string& sentence, const std::string& remedy);

}  // namespace npuscope

#include "models/base/error.h"

namespace npuscope {

template <class Work>
auto at_node(const Graph& graph, const GraphNode& node, Work work) {
    try {
        return work();
    } catch (const ConfigError& error) {
        refuse_node(graph, node, error.sentence(), error.remedy());
    }
}

}  // namespace npuscope
