// SPDX-License-Identifier: Apache-2.0
// A model planned for an NPU by its target: what runs where, with all addresses given.
#pragma once

#include <string>
#include <vector>

#include "sim/compile/model_program.h"
#include "sim/compile/partition.h"
#include "sim/config/system_config.h"

namespace npuscope {

class ModelPlan {
 public:
    ModelPlan() = default;
    ModelPlan(const ModelPlan&) = delete;
    ModelPlan& operator=(const ModelPlan&) = delete;
    virtual ~ModelPlan() = default;

    virtual const Partition& partition() const = 0;
    /// By group: the layer of the NPU and its operations.
    virtual std::vector<std::string> layers() const = 0;
    /// How much of the model the NPU runs, and as what.
    virtual std::string summary() const = 0;
    /// What the plan lacks: a surface without room.
    virtual Diagnostics findings() const { return {}; }

    /// The statements that run it; the graph must outlive them. Without `inputs` for its time alone.
    /// ConfigError where an input does not fit the graph, or the host cannot run an operator.
    virtual ModelProgram program(const HostConfig& host, const GraphInputs* inputs) const = 0;
};

}  // namespace npuscope
