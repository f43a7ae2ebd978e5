// SPDX-License-Identifier: Apache-2.0
// Runs a planned graph: layers on the NPU, the rest on the host, in the order of the graph.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/tinpu/tinpu.h"
#include "sim/layers/layer_plan.h"

namespace npuscope {

/// One layer or one operator of the host.
struct LayerOperation {
    std::string unit;  ///< tinpu or host
    std::string name;
    std::string pattern;  ///< or the operator
    Cycles start;
    Cycles cycles;
    std::uint64_t macs = 0;
    std::string bound_by;
    TinpuTraffic traffic;
    TinpuCycles parts;  ///< of the NPU
};

struct LayerRun {
    std::vector<LayerOperation> operations;
    std::map<std::string, GraphValue> outputs;  ///< as they are to be stored
    Cycles npu;
    Cycles host;

    Cycles cycles() const { return npu + host; }
};

struct LayerRunOptions {
    bool values = true;  ///< false: time alone; inputs are not needed
};

/// ConfigError where an input does not fit the graph, a map does not fit 8 bits, or the host cannot
/// run an operator.
LayerRun run_layers(const Graph& graph, const LayerPlan& plan, const LayerNpuConfig& config,
                    const std::map<std::string, GraphValue>& inputs,
                    const LayerRunOptions& options);

}  // namespace npuscope
