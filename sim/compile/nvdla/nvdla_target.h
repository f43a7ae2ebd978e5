// SPDX-License-Identifier: Apache-2.0
// What an NVDLA takes of a model, number by number: convolutions with their integer sequence,
// averages as depth-wise convolutions with weights of 1, maxima, and additions. A group is lowered
// to a layer of a register program (register_layer.h), a segment of a partitioned graph to a network
// of layers. Not here: how layers are cut and where they lie (network_planner.h).
#pragma once

#include <utility>
#include <vector>

#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/partition.h"
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

/// A tensor that a segment reads or leaves in memory.
struct SegmentTensor {
    std::string tensor;
    std::string layer;  ///< of the network; `input` is its first input
    Sizes cube;         ///< N C H W
    std::size_t node;   ///< of the graph: that reads it first, or gives it
    std::int32_t zero;  ///< memory holds its numbers less this
};

struct RegisterNetwork {
    Network network;
    std::vector<SegmentTensor> inputs;
    std::vector<SegmentTensor> outputs;
    std::vector<std::vector<std::string>> layers;  ///< of every group of the segment
    std::vector<std::vector<std::string>> reads;   ///< layers and inputs that each group reads
};

/// Of segment `index`. A graph of one segment gives its name to the network.
RegisterNetwork register_network(const ModelFacts& model, const Partition& partition,
                                 std::size_t index);

}  // namespace npuscope
