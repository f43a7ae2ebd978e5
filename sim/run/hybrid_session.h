// SPDX-License-Identifier: Apache-2.0
// Runs a model that was planned for an NPU with registers: its segments on the simulated machine,
// one after the other, the rest on the host, in the order of the graph.
#pragma once

#include <map>
#include <string>

#include "sim/compile/hybrid_plan.h"
#include "sim/run/session.h"

namespace npuscope {

/// Numbers of the graph's inputs, by name.
using GraphInputs = std::map<std::string, GraphValue>;

struct HybridRun {
    Result result;
    GraphInputs outputs;  ///< as they are to be stored; none where no inputs were given
};

/// Without `inputs` segments run with made-up ones, and the host's time alone is counted.
/// ConfigError where an input does not fit the graph, or a map does not fit int8.
HybridRun run_hybrid(const Graph& graph, HybridPlan plan, const SystemConfig& system,
                     const RunOptions& options, const GraphInputs* inputs);

}  // namespace npuscope
