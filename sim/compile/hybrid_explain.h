// SPDX-License-Identifier: Apache-2.0
// Where every node of a model runs on an NPU with registers, and why; for each layer that it does
// not take, what stands against it and what would help.
#pragma once

#include <string>
#include <vector>

#include "sim/compile/hybrid_plan.h"
#include "sim/compile/refused_layer.h"

namespace npuscope {

/// One line: how many nodes, layers and segments, how many refused.
std::string hybrid_headline(const Graph& graph, const HybridPlan& plan, const std::string& npu);
/// One row per node: pattern, unit, layer and its operations, why.
std::string hybrid_table(const Graph& graph, const HybridPlan& plan);
/// A paragraph for each layer that is refused; empty where there is none.
std::string hybrid_refusals(const Graph& graph, const GraphPartition& partition);

std::vector<RefusedLayer> refused_layers(const Graph& graph, const GraphPartition& partition);

}  // namespace npuscope
