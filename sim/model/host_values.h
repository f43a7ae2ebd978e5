// SPDX-License-Identifier: Apache-2.0
// The numbers of a graph's tensors as the host holds them while a model runs, whichever NPU is
// beside it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/model/graph.h"

namespace npuscope {

/// Whether the host has the node's operator, with all of its attributes.
bool host_knows(const GraphNode& node);
/// ConfigError with the node where the host has no such operator; a graph by shape needs none.
void check_host_runs(const Graph& graph, const GraphNode& node);

class HostValues {
 public:
    /// `facts` of the graph.
    HostValues(const Graph& graph, ValueRanges facts) : graph_(graph), facts_(std::move(facts)) {}

    /// Takes the numbers of a graph's input. Whether they are signed, where their type says.
    /// ConfigError where there are none, or they do not fit.
    std::optional<bool> take_input(const std::string& name,
                                   const std::map<std::string, GraphValue>& inputs);
    void put(const std::string& tensor, GraphValue value) { values_[tensor] = std::move(value); }
    /// A constant, or what was put or computed.
    const GraphValue& at(const std::string& tensor) const;
    /// Computes a node's outputs.
    void evaluate(const GraphNode& node);
    /// A tensor as it is to be stored: 8-bit integers as such, whatever type the model gives them.
    /// `is_signed`: where an NPU's map says so.
    GraphValue stored(const std::string& tensor, std::optional<bool> is_signed) const;

 private:
    const Graph& graph_;
    ValueRanges facts_;
    std::map<std::string, GraphValue> values_;
    std::size_t held_ = 0;  ///< elements that nodes made
};

}  // namespace npuscope
