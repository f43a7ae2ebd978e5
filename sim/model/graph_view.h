// SPDX-License-Identifier: Apache-2.0
// Who makes and who reads each tensor of a graph.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/model/graph.h"

namespace npuscope {

class GraphView {
 public:
    explicit GraphView(const Graph& graph);

    const Graph& graph() const { return graph_; }
    const GraphNode& node(std::size_t index) const { return graph_.nodes[index]; }
    const Sizes& sizes(const std::string& tensor) const { return graph_.types.at(tensor).sizes; }
    std::optional<std::size_t> producer(const std::string& tensor) const;
    /// The node that alone reads a tensor which is no output of the graph.
    std::optional<std::size_t> only_reader(const std::string& tensor) const;
    std::size_t readers(const std::string& tensor) const;

 private:
    const Graph& graph_;
    std::map<std::string, std::size_t> producers_;
    std::map<std::string, std::vector<std::size_t>> readers_;
};

}  // namespace npuscope
