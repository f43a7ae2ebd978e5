// SPDX-License-Identifier: Apache-2.0
// What an NVDLA takes of a model, number by number: convolutions with their integer sequence,
// averages as depth-wise convolutions with weights of 1, maxima, and additions. A group is lowered
// to a layer of a register program (register_layer.h).
#pragma once

#include <utility>

#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/target.h"

namespace npuscope {

class NvdlaTarget final : public Target {
 public:
    explicit NvdlaTarget(PlanTarget target) : target_(std::move(target)) {}

    std::unique_ptr<ModelPlan> plan(const Graph& graph,
                                    const std::map<std::string, ValueRange>& given) const override;
    std::optional<NodeGroup> group_at(const ModelFacts& model, std::size_t anchor,
                                      bool with_residual) const override;
    Diagnostics lower(const ModelFacts& model, NodeGroup& group) const override;
    bool joins_segments() const override { return true; }
    std::string unit_of(const NodeGroup& group, std::size_t node) const override;

 private:
    PlanTarget target_;
};

}  // namespace npuscope
