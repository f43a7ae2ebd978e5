// SPDX-License-Identifier: Apache-2.0
// Models run on the bundled preset: on the NPU where it supports them, or entirely on the host.
#pragma once

#include <string>

#include "sim/compile/tinpu/layer_plan.h"
#include "sim/compile/tinpu/tinpu_target.h"
#include "sim/config/preset.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "sim/run/session.h"
#include "tests/support/families.h"
#include "tests/support/sample_models.h"

namespace npuscope::test {

inline LayerNpuConfig bundled_preset() { return tinpu_preset(configs_folder()); }

/// A preset that supports nothing: no model has a batch of 0.
inline LayerNpuConfig host_only() {
    LayerNpuConfig config = bundled_preset();
    config.restrictions.batch = 0;
    return config;
}

inline Graph graph_of(const ModelBuilder& builder) {
    return finish_graph(parse_onnx(builder.bytes(), "built.onnx"));
}

/// 8-bit integers for every input, as `element` holds them.
inline std::map<std::string, GraphValue> some_inputs(const Graph& graph, ElementType element,
                                                     unsigned seed) {
    std::map<std::string, GraphValue> inputs;
    const NumberRange range = range_of(element);
    for (const std::string& name : graph.inputs) {
        GraphValue value = zeros({element, graph.types.at(name).sizes});
        const auto numbers = some_numbers(value.numbers.size(), static_cast<int>(range.low),
                                          static_cast<int>(range.high), seed++);
        value.numbers.assign(numbers.begin(), numbers.end());
        inputs[name] = value;
    }
    return inputs;
}

/// Without `inputs` for its time only.
inline ModelResult run_plan(const Graph& graph, const LayerPlan& plan, const LayerNpuConfig& config,
                            const GraphInputs* inputs, const RunOptions& options = {}) {
    return run_model(layer_program(graph, plan, config, {}, inputs),
                     tinpu_system(config, plan.memory), options);
}
inline ModelResult run_on(const Graph& graph, const LayerNpuConfig& config,
                          const GraphInputs& inputs) {
    return run_plan(graph, plan_layers(graph, config), config, &inputs);
}

/// Of what ran on the NPU.
inline Cycles npu_cycles(const Result& result) { return result.cycles - result.model->host.cycles; }

/// What a TINPU of these restrictions supports.
inline Partition tinpu_partition(const Graph& graph, const Restrictions& restrictions) {
    LayerNpuConfig config;
    config.restrictions = restrictions;
    return partition_graph(GraphView(graph, value_ranges(graph)), TinpuTarget(config));
}

/// Rules broken by the only refused layer, with the nodes they name.
inline std::vector<std::string> broken_rules(const Partition& partition) {
    std::vector<std::string> rules;
    for (const Refusal& refusal : partition.refusals) {
        for (const Diagnostic& problem : refusal.problems) {
            rules.push_back(problem.id + " at " + problem.operation);
        }
    }
    return rules;
}

}  // namespace npuscope::test
