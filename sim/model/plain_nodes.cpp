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
    return axes == std::vector<std::int64_t>{2, 3};
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

}  // namespace

void use_plain_nodes(Graph& graph) {
    drop_copies(graph);
    name_global_pools(graph);
}

}  // namespace npuscope
