// SPDX-License-Identifier: Apache-2.0
// A segment of a partitioned graph as a network of layers that an NVDLA's registers can run. Not
// here: how layers are cut and where they lie (network_planner.h).
#pragma once

#include <string>
#include <vector>

#include "sim/compile/nvdla/graph_partition.h"
#include "sim/model/network.h"

namespace npuscope {

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
    std::vector<std::vector<std::string>> layers;  ///< of every item of the segment
};

/// Of segment `index`. A graph of one segment gives its name to the network.
RegisterNetwork register_network(const ModelFacts& model, const GraphPartition& partition,
                                 std::size_t index);

/// The same of the segment's first `items` alone: what nobody reads is its output.
RegisterNetwork begin_of_segment(const ModelFacts& model, const GraphPartition& partition,
                                 std::size_t index, std::size_t items);

}  // namespace npuscope
