// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph run on an NPU with registers and which on the host, and in what order:
// items are put together to segments, as many as fit so that no segment waits for what the host
// makes of its own results.
//
//     x ─► [conv ─► conv] ─► Resize ─► [conv ─► add] ─► y
//            segment 1       host        segment 2
//
// A segment is one register program; tensors between it and the host pass as cubes of int8.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/compile/nvdla/graph_items.h"

namespace npuscope {

enum class NodeSide {
    Npu,
    Host,
    View,   ///< moves nothing
    Unused  ///< no output of the graph needs it
};

struct NodePlace {
    NodeSide side = NodeSide::Host;
    std::optional<std::size_t> item{};
    std::optional<std::size_t> refusal{};  ///< that it was part of
};

struct Segment {
    std::vector<std::size_t> items;    ///< in order of execution
    std::vector<std::string> outputs;  ///< results that the host or other segments read
};

/// A segment, or a node on the host.
struct PartitionStep {
    std::optional<std::size_t> segment{};
    std::size_t node = 0;
};

struct GraphPartition {
    GraphItems found;
    std::vector<NodePlace> places;  ///< one per node
    std::vector<Segment> segments;
    std::vector<PartitionStep> steps;  ///< all segments and all that the host does, in order

    /// Whether one register program is all of it; views may stand behind it.
    bool is_whole() const;
    std::size_t count(NodeSide side) const;
};

/// The tensor that a chain of views begins with.
std::string root_of(const ModelFacts& model, const GraphPartition& partition,
                    const std::string& tensor);

GraphPartition partition_graph(const ModelFacts& model, GraphItems found);

}  // namespace npuscope
