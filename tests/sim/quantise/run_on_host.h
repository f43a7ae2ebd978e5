// SPDX-License-Identifier: Apache-2.0
// What a graph computes on the host.
#pragma once

#include "sim/model/host_values.h"
#include "sim/quantise/calibration.h"

namespace npuscope::sample {

inline GraphValue host_output(const Graph& graph, const Case& inputs) {
    HostValues values(graph, {});
    for (const std::string& input : graph.inputs) {
        values.take_input(input, inputs);
    }
    for (const GraphNode& node : graph.nodes) {
        values.evaluate(node);
    }
    return values.at(graph.outputs.front());
}

}  // namespace npuscope::sample
