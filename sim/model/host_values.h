// SPDX-License-Identifier: Apache-2.0
// The values of a graph's tensors as the host holds them while a model runs, whatever the NPU.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/model/graph.h"

namespace npuscope {

/// Whether the host supports the node's operator, with all of its attributes.
bool host_knows(const GraphNode& node);
/// ConfigError naming the node if the host lacks its operator; a by-shape graph needs none.
void check_host_runs(const Graph& graph, const GraphNode& node);

class HostValues {
 public:
    /// `facts`: value ranges of the graph.
    HostValues(const Graph& graph, ValueRanges facts) : graph_(graph), facts_(std::move(facts)) {}

    /// Sets the values of a graph's input. Returns whether they are signed, if their type is one of 8
    /// bits; wider types say nothing of a map's sign.
    /// ConfigError if they are missing or do not fit.
    std::optional<bool> take_input(const std::string& name,
                                   const std::map<std::string, GraphValue>& inputs);
    void put(const std::string& tensor, GraphValue value) { values_[tensor] = std::move(value); }
    /// A constant, or what was set or computed.
    const GraphValue& at(const std::string& tensor) const;
    /// Computes a node's outputs.
    void evaluate(const GraphNode& node);
    /// A tensor in storage form: 8-bit integers as such, whatever type they have in the model, if an
    /// NPU's map determines that (`is_signed`), or if a float input was given as integers.
    GraphValue stored(const std::string& tensor, std::optional<bool> is_signed) const;

 private:
    const Graph& graph_;
    ValueRanges facts_;
    std::map<std::string, GraphValue> values_;
    bool takes_integers_ = false;  ///< a float input was given as integers
    std::size_t held_ = 0;         ///< elements produced by nodes
};

/// Computes all of a model; ConfigErrors as above.
HostValues run_on_host(const Graph& graph, const std::map<std::string, GraphValue>& inputs,
                       ValueRanges facts = {});

}  // namespace npuscope
