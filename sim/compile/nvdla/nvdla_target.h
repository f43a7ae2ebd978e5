// SPDX-License-Identifier: Apache-2.0
// What an NVDLA can compute of a model, bit for bit: convolutions with their integer sequence,
// averages as depthwise convolutions with weights of 1, maxima, and additions. A group is lowered
// to a layer of a register program (register_layer.h). What cannot be lowered or planned goes to
// the host, with the reason.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/partition.h"

namespace npuscope {

class NvdlaTarget final : public Target {
 public:
    /// `precision`: of the model's maps.
    explicit NvdlaTarget(PlanTarget target, Precision precision = Precision::Int8)
        : target_(std::move(target)), precision_(precision) {}

    std::unique_ptr<ModelPlan> plan(const Graph& graph, const ValueRanges& given) const override;
    std::optional<NodeGroup> group_at(const GraphView& model, std::size_t anchor,
                                      bool with_residual) const override;
    Diagnostics lower(const GraphView& model, NodeGroup& group) const override;
    bool computes_integers() const override { return true; }
    bool computes(const std::string& op) const override;
    bool joins_segments() const override { return true; }
    std::string unit_of(const NodeGroup& group, std::size_t node) const override;

 private:
    PlanTarget target_;
    Precision precision_;
};

/// A tensor that a segment reads or leaves in memory.
struct SegmentTensor {
    std::string tensor;
    std::string layer;  ///< of the network; `input` is its first input
    Sizes cube;         ///< N C H W
    std::size_t node;   ///< of the graph: the first that reads it, or its producer
    std::int32_t zero;  ///< memory holds its values minus this
};

struct RegisterNetwork {
    Network network;
    std::vector<SegmentTensor> inputs;
    std::vector<SegmentTensor> outputs;
    std::vector<std::vector<std::string>> layers;  ///< of every group of the segment
    std::vector<std::vector<std::string>> reads;   ///< layers and inputs that each group reads
};

/// The network of segment `index`. With only one segment it has the graph's name.
RegisterNetwork register_network(const GraphView& model, const Partition& partition,
                                 std::size_t index);

// A model planned: the segments of its graph as programs, and what the host does between them.

struct PlannedSegment {
    RegisterNetwork lowered;
    Plan plan;
    Bytes distance{};  ///< with several inputs at once: between the places of a tensor
};

struct SegmentedPlan {
    ValueRanges ranges;  ///< of the graph's tensors
    Partition partition;
    std::vector<PlannedSegment> segments;
    std::uint32_t inputs = 1;       ///< of the model, computed at once
    std::size_t shared_layers = 0;  ///< whose operations compute several of them
};

/// `graph` is what finish_graph returned. `given`: what is known about inputs beyond their types;
/// otherwise floats are assumed to hold int8. ConfigError, with the node, where the host cannot run
/// what the NPU does not.
SegmentedPlan plan_segments(const Graph& graph, const PlanTarget& target,
                            const ValueRanges& given = {});

/// One line: how many nodes, layers and segments, how many refused.
std::string segments_headline(const Graph& graph, const SegmentedPlan& plan,
                              const std::string& npu);
/// By group: `conv1+pool1, 2 operations`; with the segment where there are several.
std::vector<std::string> layers_of_groups(const SegmentedPlan& plan);

}  // namespace npuscope
