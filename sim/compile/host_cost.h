// SPDX-License-Identifier: Apache-2.0
// Estimated cycles of an operator on the host, by products and elements.
#pragma once

#include "sim/config/system_config.h"
#include "sim/model/graph.h"

namespace npuscope {

struct HostCost {
    Cycles cycles;
    std::uint64_t macs = 0;
};

HostCost host_cost(const Graph& graph, const GraphNode& node, const HostConfig& config);

}  // namespace npuscope
