// SPDX-License-Identifier: Apache-2.0
// Float nodes that exporters write in several forms, in one: copies are left out, and a mean over
// all of a map is a global pool.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

/// Identity, or Dropout as it computes outside of training.
bool copies(const Graph& graph, const GraphNode& node) {
    if (node.op != "Identity" && node.op != "Dropout") {
        return false;
    }
    const std::string& training = node.input(2);
    const GraphValue* trains = graph.constant(training);
    const bool infers =
        training.empty() || (trains != nullptr && trains->numbers == std::vector<double>{0});
    return infers && node.outputs.size() == 1 && !graph.is_constant(node.inputs.front()) &&
           is_float(graph.types.at(node.outputs.front()).element);
}

void drop_copies(Graph& graph) {
    std::map<std::string, std::string> sources;  // of the copies
    std::erase_if(graph.nodes, [&](GraphNode& node) {
        for (std::string& input : node.inputs) {
            const auto source = sources.find(input);
            input = source == sources.end() ? input : source->second;
        }
        const bool dropped =
            copies(graph, node) &&
            std::ranges::find(graph.outputs, node.outputs.front()) == graph.outputs.end();
        if (dropped) {
            sources[node.outputs.front()] = node.inputs.front();
        }
        return dropped;
    });
}

/// Whether a ReduceMean is over height and width.
bool is_mean_of_map(const Graph& graph, const GraphNode& node) {
    if (node.op != "ReduceMean" || graph.types.at(node.inputs.front()).sizes.size() != 4 ||
        !is_float(graph.types.at(node.inputs.front()).element)) {
        return false;
    }
    std::vector<std::int64_t> axes = node.integers("axes");
    if (const GraphValue* operand = graph.constant(node.input(1))) {
        axes.assign(operand->numbers.begin(), operand->numbers.end());
    }
    for (std::int64_t& axis : axes) {
        axis += axis < 0 ? 4 : 0;
    }
    std::ranges::sort(axes);
    return axes.size() == 2 && axes[0] == 2 && axes[1] == 3;
}

void name_global_pools(Graph& graph) {
    std::vector<GraphNode> nodes;
    nodes.reserve(graph.nodes.size());
    for (GraphNode& node : graph.nodes) {
        if (!is_mean_of_map(graph, node)) {
            nodes.push_back(std::move(node));
            continue;
        }
        const bool keeps = node.integer("keepdims", 1) != 0;
        GraphNode pool{"GlobalAveragePool", node.name, {node.inputs.front()}, node.outputs, {}};
        const std::string result = node.outputs.front();
        if (!keeps) {
            pool.outputs = {result + "/map"};
        }
        nodes.push_back(pool);
        if (!keeps) {
            nodes.push_back({"Flatten", node_name(node) + "/flat", pool.outputs, {result}, {}});
        }
    }
    graph.nodes = std::move(nodes);
}

/// A part of a Split: `bounds` are its begin and end.
GraphNode slice_of(Graph& graph, const GraphNode& split, const std::string& part,
                   std::pair<std::int64_t, std::int64_t> bounds, std::int64_t axis) {
    GraphNode slice{"Slice", part + "/slice", {split.inputs.front()}, {part}, {}};
    const auto operand = [&](const char* name, std::int64_t number) {
        const std::string tensor = slice.name + '/' + name;
        GraphValue value = zeros({ElementType::Int64, {1}});
        value.numbers.front() = static_cast<double>(number);
        graph.constants[tensor] = std::move(value);
        slice.inputs.push_back(tensor);
    };
    operand("begin", bounds.first);
    operand("end", bounds.second);
    operand("axis", axis);
    return slice;
}

}  // namespace

void slice_parts(Graph& graph) {
    std::vector<GraphNode> nodes;
    for (GraphNode& node : graph.nodes) {
        if (node.op != "Split" || !is_float(graph.types.at(node.inputs.front()).element)) {
            nodes.push_back(std::move(node));
            continue;
        }
        const Sizes& whole = graph.types.at(node.inputs.front()).sizes;
        const std::int64_t axis = node.integer("axis", 0);
        const auto at = static_cast<std::size_t>(axis + (axis < 0 ? std::ssize(whole) : 0));
        std::int64_t begin = 0;
        for (const std::string& part : node.outputs) {
            const std::int64_t end = begin + (part.empty() ? 0 : graph.types.at(part).sizes[at]);
            if (!part.empty()) {
                nodes.push_back(slice_of(graph, node, part, {begin, end}, axis));
            }
            begin = end;
        }
    }
    graph.nodes = std::move(nodes);
}

void use_plain_nodes(Graph& graph) {
    drop_copies(graph);
    name_global_pools(graph);
}

}  // namespace npuscope
