// SPDX-License-Identifier: Apache-2.0
// A model planned for an NPU with registers: the segments of its graph as programs, and what the
// host does between them. What lowering or planning cannot do goes to the host, with the reason.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/nvdla_target.h"

namespace npuscope {

struct PlannedSegment {
    RegisterNetwork lowered;
    Plan plan;
};

struct HybridPlan {
    std::map<std::string, ValueRange> facts;  ///< of the graph's tensors
    Partition partition;
    std::vector<PlannedSegment> segments;
};

/// `graph` is what finish_graph gave. `given`: what is known of inputs beyond their types; floats
/// are else taken to hold int8. ConfigError, with the node, where the host cannot run what the NPU
/// does not.
HybridPlan plan_hybrid(const Graph& graph, const PlanTarget& target,
                       const std::map<std::string, ValueRange>& given = {});

/// One line: how many nodes, layers and segments, how many refused.
std::string hybrid_headline(const Graph& graph, const HybridPlan& plan, const std::string& npu);
/// By group: `conv1+pool1, 2 operations`; with the segment where there are several.
std::vector<std::string> layers_of_groups(const HybridPlan& plan);

}  // namespace npuscope
