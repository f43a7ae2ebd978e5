// SPDX-License-Identifier: Apache-2.0
#include "sim/model/graph_edit.h"

#include <algorithm>
#include <iterator>

namespace npuscope {

std::string free_name(const Graph& graph, std::string wish) {
    while (graph.types.contains(wish) || graph.is_constant(wish)) {
        wish += '_';
    }
    return wish;
}

std::string add_constant(Graph& graph, const std::string& wish, GraphValue value) {
    std::string name = free_name(graph, wish);
    graph.types[name] = value.type;
    graph.constants[name] = std::move(value);
    return name;
}

std::string add_number(Graph& graph, const std::string& wish, ElementType element, double number) {
    return add_constant(graph, wish, scalar_value(element, number));
}

GraphValue scalar_value(ElementType element, double number) { return {{element, {}}, {number}}; }

GraphValue integer_list(const std::vector<std::int64_t>& numbers) {
    return {{ElementType::Int64, {std::ssize(numbers)}}, {numbers.begin(), numbers.end()}};
}

void replace_nodes(Graph& graph, ReplacedNodes replaced, const std::set<std::size_t>& dropped) {
    std::vector<GraphNode> nodes;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        if (const auto found = replaced.find(i); found != replaced.end()) {
            std::ranges::move(found->second, std::back_inserter(nodes));
        } else if (!dropped.contains(i)) {
            nodes.push_back(std::move(graph.nodes[i]));
        }
    }
    graph.nodes = std::move(nodes);
}

std::set<std::string> read_tensors(const Graph& graph) {
    std::set<std::string> read(graph.outputs.begin(), graph.outputs.end());
    for (const GraphNode& node : graph.nodes) {
        read.insert(node.inputs.begin(), node.inputs.end());
    }
    for (const auto& [node, reason] : graph.left_out) {
        read.insert(node.inputs.begin(), node.inputs.end());
    }
    return read;
}

void drop_unread(Graph& graph, const std::function<bool(const GraphNode&)>& droppable) {
    for (bool dropped = true; dropped;) {
        const std::set<std::string> read = read_tensors(graph);
        dropped = std::erase_if(graph.nodes, [&](const GraphNode& node) {
                      return droppable(node) && !read.contains(node.outputs.front());
                  }) > 0;
        std::erase_if(graph.constants,
                      [&](const auto& constant) { return !read.contains(constant.first); });
    }
}

}  // namespace npuscope
