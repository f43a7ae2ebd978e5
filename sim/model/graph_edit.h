// SPDX-License-Identifier: Apache-2.0
// How passes change a graph: names that are free, new constants, nodes in place of others.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/model/graph.h"

namespace npuscope {

/// `wish`, with underscores where a tensor of that name exists.
std::string free_name(const Graph& graph, std::string wish);
/// Adds a constant, or a scalar one, under the name that is free; returns the name.
std::string add_constant(Graph& graph, const std::string& wish, GraphValue value);
std::string add_number(Graph& graph, const std::string& wish, ElementType element, double number);
/// One number, without sizes.
GraphValue scalar_value(ElementType element, double number);
/// [n] Int64: an operand that lists sizes or axes.
GraphValue integer_list(const std::vector<std::int64_t>& numbers);

using ReplacedNodes = std::map<std::size_t, std::vector<GraphNode>>;  ///< by position
/// Replaces nodes at their positions, and drops those in `dropped`.
void replace_nodes(Graph& graph, ReplacedNodes replaced, const std::set<std::size_t>& dropped = {});
/// Replaces each node by those that `made` returns for it; if there are none, it stays.
template <class Made>
void replace_each(Graph& graph, Made made) {
    ReplacedNodes replaced;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        if (std::vector<GraphNode> nodes = made(graph, graph.nodes[i]); !nodes.empty()) {
            replaced[i] = std::move(nodes);
        }
    }
    replace_nodes(graph, std::move(replaced));
}

/// All that nodes read, and the outputs.
std::set<std::string> read_tensors(const Graph& graph);
/// Drops nodes without readers, if they are `droppable`, until all have some; then constants without
/// readers: weights may be large.
void drop_unread(Graph& graph, const std::function<bool(const GraphNode&)>& droppable);

inline bool is_dequantiser(const GraphNode& node) { return node.op == "DequantizeLinear"; }

/// A graph that a pass rewrites, and what it was before.
struct GraphRewrite {
    Graph& graph_;
    const Graph before_;
    const GraphView view_;

    explicit GraphRewrite(Graph& graph) : graph_(graph), before_(graph), view_(before_) {}
};

}  // namespace npuscope
