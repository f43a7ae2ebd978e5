// SPDX-License-Identifier: Apache-2.0
// What an NPU family is to the compiler: which groups of a model's nodes it takes, what they become,
// where their tensors lie and which statements run them (model_plan.h). The partition (partition.h)
// asks it node by node and knows nothing else of the NPU. A
// family implements it in one folder; nvdla/ and tinpu/ are two of them.
#pragma once

#include <any>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "sim/model/candidate.h"
#include "sim/model/graph.h"
#include "sim/model/value_ranges.h"

namespace npuscope {

/// What is known of a model before anything runs.
struct ModelFacts {
    const Graph& graph;
    const GraphView& view;
    const std::map<std::string, ValueRange>& facts;
};

/// A tensor that a group reads, with the sizes N C H W that it takes it for.
struct GroupRead {
    std::string tensor;
    Sizes cube;
    std::size_t node = 0;
};

/// Nodes that an NPU computes together.
struct NodeGroup {
    std::string pattern;  ///< `GCONV`, as tables name it
    std::string name{};   ///< of its anchor; the partition gives it
    std::size_t anchor = 0;
    std::vector<std::size_t> nodes;  ///< the anchor among them
    std::vector<GroupRead> reads;
    std::string output;
    Sizes cube;                        ///< of the output
    std::optional<Candidate> layer{};  ///< of a layer pattern
    std::any lowered{};                ///< the target's own form of it

    bool has_residual() const { return layer && !layer->norm.residual.empty(); }
    /// The node after which all that the group reads is there.
    std::size_t last_node() const;
};

class ModelPlan;

class Target {
 public:
    virtual ~Target() = default;

    /// Partitions a graph that finish_graph gave, and places the tensors of what the NPU takes; the
    /// graph must outlive the plan. `given`: what is known of inputs beyond their types.
    virtual std::unique_ptr<ModelPlan> plan(
        const Graph& graph, const std::map<std::string, ValueRange>& given = {}) const = 0;

    /// The group that is built on node `anchor`; nothing where the NPU builds none on such an
    /// operator. With `with_residual` false it ends before a residual.
    virtual std::optional<NodeGroup> group_at(const ModelFacts& model, std::size_t anchor,
                                              bool with_residual) const = 0;
    /// Lowers a group. What stands against it, with node, sentence and remedy; empty: it is legal.
    virtual Diagnostics lower(const ModelFacts& model, NodeGroup& group) const = 0;
    /// Whether groups are joined to segments around the work of the host, and read what they read
    /// through views. Otherwise groups, views and host run in the order of the graph.
    virtual bool joins_segments() const = 0;

    /// The unit that a node of a group runs on, as tables name it.
    virtual std::string unit_of(const NodeGroup& group, std::size_t node) const = 0;
    /// Sizes and window of a group, for its refusal.
    virtual std::string configuration(const NodeGroup& group) const;
};

/// Group of a layer pattern.
NodeGroup pattern_group(Candidate candidate);

/// `[H,W,C] = [7,5,4]`, of N C H W.
std::string hwc_text(const Sizes& cube);
/// `kernel 3x3, strides 1x1, padding t1 l1 b1 r1, dilation 1x1, groups 1`.
std::string window_text(const Candidate& candidate);
/// `t0 l1 b0 r1`.
std::string padding_text(const Window& window);

}  // namespace npuscope
