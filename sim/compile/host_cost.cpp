// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/host_cost.h"

#include "sim/model/operators.h"

namespace npuscope {

HostCost host_cost(const Graph& graph, const GraphNode& node, const HostConfig& config) {
    std::uint64_t outputs = 0;
    for (const std::string& output : node.outputs) {
        const auto found = graph.types.find(output);
        outputs += found == graph.types.end() ? 0 : count_elements(found->second.sizes);
    }
    HostCost cost;
    cost.macs = count_macs(graph, node);
    cost.cycles = Cycles(cost.macs * config.cycles_per_mac + outputs * config.cycles_per_element) +
                  config.operator_overhead;
    return cost;
}

}  // namespace npuscope
