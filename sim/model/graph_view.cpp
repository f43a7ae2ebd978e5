// SPDX-License-Identifier: Apache-2.0
#include "sim/model/graph_view.h"

#include <algorithm>

namespace npuscope {

GraphView::GraphView(const Graph& graph) : graph_(graph) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for (const std::string& output : graph.nodes[i].outputs) {
            producers_[output] = i;
        }
        for (const std::string& input : graph.nodes[i].inputs) {
            readers_[input].push_back(i);
        }
    }
}

std::optional<std::size_t> GraphView::producer(const std::string& tensor) const {
    const auto found = producers_.find(tensor);
    return found == producers_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> GraphView::only_reader(const std::string& tensor) const {
    const auto found = readers_.find(tensor);
    if (found == readers_.end() || found->second.size() != 1 ||
        std::find(graph_.outputs.begin(), graph_.outputs.end(), tensor) != graph_.outputs.end()) {
        return std::nullopt;
    }
    return found->second.front();
}

std::size_t GraphView::readers(const std::string& tensor) const {
    const auto found = readers_.find(tensor);
    return found == readers_.end() ? 0 : found->second.size();
}

}  // namespace npuscope
