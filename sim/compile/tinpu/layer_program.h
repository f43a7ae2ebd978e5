// SPDX-License-Identifier: Apache-2.0
// A graph planned for an NPU of layer patterns, as the host's program: load weights and constants,
// launch layers, compute the rest.
//
// Layers that follow each other directly are launched ahead, as far as the NPU's queue has room. A
// map that the host made is stored right before its first reader is launched; what a layer wrote is
// read back when it has ended. Whether such a map is signed may depend on its numbers, so that a
// layer's job is completed when it is launched.
#pragma once

#include "sim/compile/model_program.h"
#include "sim/compile/tinpu/layer_plan.h"
#include "sim/config/system_config.h"

namespace npuscope {

/// `graph` must outlive the program. Without `inputs` for its time alone. ConfigError where an
/// input does not fit the graph, or the host cannot run an operator.
ModelProgram layer_program(const Graph& graph, LayerPlan plan, const LayerNpuConfig& config,
                           const HostConfig& host, const GraphInputs* inputs);

}  // namespace npuscope
