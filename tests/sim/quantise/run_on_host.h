// SPDX-License-Identifier: Apache-2.0
// A model as quantisation accepts it, and what it computes on the host.
#pragma once

#include "sim/model/host_values.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "sim/quantise/calibration.h"
#include "tests/support/model_builder.h"

namespace npuscope::sample {

inline Graph prepared(const test::ModelBuilder& builder) {
    Graph graph = parse_onnx(builder.bytes(), "m.onnx");
    prepare_graph(graph);
    return graph;
}

inline GraphValue host_output(const Graph& graph, const Case& inputs) {
    return run_on_host(graph, inputs).at(graph.outputs.front());
}

}  // namespace npuscope::sample
