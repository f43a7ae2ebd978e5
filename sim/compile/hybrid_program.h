// SPDX-License-Identifier: Apache-2.0
// A model that was planned for an NPU with registers, as the host's program: the register programs
// of its segments one after the other, each on an NPU and a memory as after reset, and the host's
// operators between them, in the order of the graph.
#pragma once

#include "sim/compile/hybrid_plan.h"
#include "sim/compile/model_program.h"
#include "sim/config/system_config.h"

namespace npuscope {

/// `graph` must outlive the program. Without `inputs` segments run with synthetic ones, and the
/// host's time alone is counted. ConfigError where an input does not fit the graph.
ModelProgram hybrid_program(const Graph& graph, HybridPlan plan, const HostConfig& host,
                            const GraphInputs* inputs);

}  // namespace npuscope
