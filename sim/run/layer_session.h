// SPDX-License-Identifier: Apache-2.0
// Runs a planned graph on a simulated machine: layers on the NPU, the rest on the host, in the
// order of the graph.
#pragma once

#include <map>
#include <string>

#include "sim/compile/tinpu/layer_plan.h"
#include "sim/run/layer_run.h"

namespace npuscope {

/// ConfigError where an input does not fit the graph, a map does not fit 8 bits, or the host cannot
/// run an operator; MachineStopped as LayerMachine.
LayerRun run_layers(const Graph& graph, const LayerPlan& plan, const LayerNpuConfig& config,
                    const std::map<std::string, GraphValue>& inputs,
                    const LayerRunOptions& options);

}  // namespace npuscope
