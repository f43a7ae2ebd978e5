// SPDX-License-Identifier: Apache-2.0
// Which nodes of a model run on the NPU and which on the host, and in what order: groups that the
// target takes, put together to segments, as many as fit so that no segment waits for what the
// host makes of its own results.
//
//     x ─► [conv ─► conv] ─► Resize ─► [conv ─► add] ─► y
//            segment 1       host        segment 2
//
// A target that joins no segments runs in the order of the graph: a segment is then the groups that
// follow each other directly.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/compile/target.h"

namespace npuscope {

enum class NodeSide {
    Npu,
    Host,
    View,   ///< moves nothing
    Unused  ///< no output of the graph needs it
};

struct NodePlace {
    NodeSide side = NodeSide::Host;
    std::optional<std::size_t> group{};
    std::optional<std::size_t> refusal{};  ///< that it was part of
};

/// A group that the NPU does not take, and why.
struct Refusal {
    NodeGroup group;
    Diagnostics problems;
    bool partly_taken = false;  ///< all but its residual runs on the NPU
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
    std::vector<PartitionStep> steps;  ///< all segments and all that the host does, in order

    /// Whether one segment is all of it; views may stand after it.
    bool is_whole() const;
    std::size_t count(NodeSide side) const;
};

/// What planning found against a group, by the group's nodes.
using PlanProblems = std::map<std::vector<std::size_t>, Diagnostic>;

Partition partition_graph(const ModelFacts& model, const Target& target,
                          const PlanProblems& planning = {});

/// The tensor that a chain of views begins with.
std::string root_of(const ModelFacts& model, const Partition& partition, const std::string& tensor);

}  // namespace npuscope
