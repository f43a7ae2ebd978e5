// SPDX-License-Identifier: Apache-2.0
// Which nodes of a model run on the NPU and which on the host, and in what order: groups that the
// target supports, joined into segments, as many as fit such that no segment waits for what the
// host computes from the segment's own results.
//
//     x ─► [conv ─► conv] ─► Resize ─► [conv ─► add] ─► y
//            segment 1       host        segment 2
//
// A target that joins no segments runs in graph order: a segment is then the groups that directly
// follow each other.
//
// Which groups of nodes an NPU supports, what they become, where their tensors are and which
// statements run them is decided by its family's Target; a family implements it in one folder, as
// nvdla/ and tinpu/ do.
#pragma once

#include <any>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "sim/compile/model_program.h"
#include "sim/config/system_config.h"
#include "sim/model/candidate.h"
#include "sim/model/graph.h"

namespace npuscope {

/// A tensor that a group reads, with the sizes N C H W that the group assumes.
struct GroupRead {
    std::string tensor;
    Sizes cube;
    std::size_t node = 0;
};

/// Nodes that an NPU computes together.
struct NodeGroup {
    std::string pattern;  ///< `GCONV`, as tables name it
    std::string name{};   ///< of its anchor; set by the partition
    std::size_t anchor = 0;
    std::vector<std::size_t> nodes;  ///< the anchor among them
    std::vector<GroupRead> reads;
    std::string output;
    Sizes cube;                        ///< of the output
    std::optional<Candidate> layer{};  ///< of a layer pattern
    std::any lowered{};                ///< the target's own form of it

    bool has_residual() const { return layer && !layer->norm.residual.empty(); }
    /// The node after which everything that the group reads is available.
    std::size_t last_node() const;
};

/// Group of a layer pattern.
NodeGroup pattern_group(Candidate candidate);

enum class NodeSide {
    Npu,
    Host,
    View,   ///< moves nothing
    Unused  ///< no output of the graph needs it
};

struct NodePlace {
    NodeSide side = NodeSide::Host;
    std::optional<std::size_t> group{};
    std::optional<std::size_t> refusal{};  ///< the refused group that it was part of
};

/// A group that the NPU does not support, and why.
struct Refusal {
    NodeGroup group;
    Diagnostics problems;
    bool partly_taken = false;    ///< all but its residual runs on the NPU
    std::string configuration{};  ///< sizes and window
};

struct Segment {
    std::vector<std::size_t> groups;   ///< in order of execution
    std::vector<std::string> outputs;  ///< results that the host or other segments read
};

/// A segment, or a node on the host.
struct PartitionStep {
    std::optional<std::size_t> segment{};
    std::size_t node = 0;
};

struct Partition {
    std::vector<NodeGroup> groups;  ///< in order of execution
    std::vector<Refusal> refusals;
    std::vector<NodePlace> places;  ///< one per node
    std::vector<Segment> segments;
    std::vector<PartitionStep> steps;             ///< all segments and all host nodes, in order
    std::map<std::size_t, Diagnostic> reasons{};  ///< of nodes on the host without a refused group

    /// Whether one segment is all of it; views may follow it.
    bool is_whole() const;
    std::size_t count(NodeSide side) const;
};

/// A model planned for an NPU by its target: what runs where, with all addresses assigned.
class ModelPlan {
 public:
    ModelPlan() = default;
    ModelPlan(const ModelPlan&) = delete;
    ModelPlan& operator=(const ModelPlan&) = delete;
    virtual ~ModelPlan() = default;

    virtual const Partition& partition() const = 0;
    /// By group: the layer of the NPU and its operations.
    virtual std::vector<std::string> layers() const = 0;
    /// How much of the model the NPU runs, and as what, in tables of this width.
    virtual std::string summary(std::size_t width) const = 0;
    /// What the plan lacks: room for a surface.
    virtual Diagnostics findings() const { return {}; }

    /// The statements that run it; the graph must outlive them. Without `inputs` for timing only.
    /// ConfigError where an input does not fit the graph, or the host cannot run an operator.
    virtual ModelProgram program(const HostConfig& host, const GraphInputs* inputs) const = 0;
};

/// What the compiler needs to know about an NPU family.
class Target {
 public:
    virtual ~Target() = default;

    /// Partitions a graph that finish_graph returned, and places the tensors of the NPU's part; the
    /// graph must outlive the plan. `given`: what is known about inputs beyond their types.
    virtual std::unique_ptr<ModelPlan> plan(const Graph& graph,
                                            const ValueRanges& given = {}) const = 0;

    /// The group that is built on node `anchor`; nothing where the NPU builds none on such an
    /// operator. With `with_residual` false it ends before a residual.
    virtual std::optional<NodeGroup> group_at(const GraphView& model, std::size_t anchor,
                                              bool with_residual) const = 0;
    /// Lowers a group. Returns the problems, with node, sentence and remedy; empty: it is legal.
    virtual Diagnostics lower(const GraphView& model, NodeGroup& group) const = 0;
    /// Whether its layers compute with integers: a float layer is told what it lacks. Otherwise the
    /// problems that `lower` returns are told as they are.
    virtual bool computes_integers() const { return false; }
    /// Whether a layer of the NPU computes the operator by itself, between quantisers. Operators
    /// that layer patterns start with need not be among them: groups tell why those are refused.
    virtual bool computes(const std::string& /*op*/) const { return false; }
    /// Whether groups are joined into segments around the host's work, and read their inputs
    /// through views. Otherwise groups, views and host run in graph order.
    virtual bool joins_segments() const = 0;

    /// The unit that a node of a group runs on, as tables name it.
    virtual std::string unit_of(const NodeGroup& group, std::size_t node) const = 0;
    /// Sizes and window of a group, for its refusal.
    virtual std::string configuration(const NodeGroup& group) const;
};

/// Problems that planning found with a group, by the group's nodes.
using PlanProblems = std::map<std::vector<std::size_t>, Diagnostic>;

Partition partition_graph(const GraphView& model, const Target& target,
                          const PlanProblems& planning = {});

/// The tensor at the start of a chain of views.
std::string root_of(const GraphView& model, const Partition& partition, const std::string& tensor);

/// The statement of a node outside groups, without its work; on the host with an estimate of its
/// cycles, from MACs and elements.
RunNode run_node_statement(const Graph& graph, const Partition& partition, std::size_t index,
                           const HostConfig& host);

/// `[H,W,C] = [7,5,4]`, of N C H W.
std::string hwc_text(const Sizes& cube);
/// `kernel 3x3, strides 1x1, padding t1 l1 b1 r1, dilation 1x1, groups 1`.
std::string window_text(const Candidate& candidate);
/// `t0 l1 b0 r1`.
std::string padding_text(const Window& window);

}  // namespace npuscope
