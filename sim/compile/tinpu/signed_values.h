// SPDX-License-Identifier: Apache-2.0
// The numbers of a graph as its host holds them while it runs, and which feature maps are signed.
// Time alone needs none: then nothing is held but signs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/compile/tinpu/layer_plan.h"
#include "sim/model/host_values.h"

namespace npuscope {

class SignedValues {
 public:
    explicit SignedValues(const Graph& graph)
        : graph_(graph), values_(graph, value_ranges(graph)) {}

    /// ConfigError where there is no such input or it does not fit the graph.
    void take_input(const std::string& name, const std::map<std::string, GraphValue>& inputs);
    /// Runs an operator. ConfigError where the host cannot.
    void evaluate(const GraphNode& node) { values_.evaluate(node); }
    /// A tensor as bytes of a feature map; its sign is known then. ConfigError where it does not
    /// fit 8 bits; `reader` takes it.
    std::vector<std::uint8_t> map_bytes(const std::string& tensor, const GraphNode& reader);
    /// What a layer wrote.
    void take_map(const std::string& tensor, const Tensor<std::int32_t>& map);
    /// 8-bit integers are stored as such, whatever type the model gives them.
    GraphValue stored_output(const std::string& output) const;

    Signs signs;

 private:
    const Graph& graph_;
    HostValues values_;
};

}  // namespace npuscope
