// SPDX-License-Identifier: Apache-2.0
// Makes a graph that was read fit to be used: constants are folded (but for DequantizeLinear, whose
// integers may still be read), every tensor has a type, and what the operators demand of
// operands and attributes holds.
#pragma once

#include <filesystem>

#include "sim/model/graph.h"
#include "sim/model/network.h"

namespace npuscope {

/// ConfigError with file and node: for an operator that does not exist, a shape that depends on numbers
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

// A graph that is ready to be matched: read, typed, folded, in integer form.

/// From an ONNX file. ConfigError for whatever is wrong with it.
Graph load_graph(const std::filesystem::path& path);
/// The same for a graph that was built otherwise.
Graph finish_graph(Graph graph);

// A shape table as a graph of the integer sequences that a TINPU runs, for people without a model.
// Weights and biases are the synthetic ones of the table's seed, the same as on every NPU; shifts keep
// results of random inputs within 8 bits most of the time. A 1x1 convolution without relu that only
// an addition reads becomes PWCONVRES.

/// Not prepared yet: finish_graph does that. ConfigError as network_shapes.
Graph network_graph(const Network& network);

}  // namespace npuscope
