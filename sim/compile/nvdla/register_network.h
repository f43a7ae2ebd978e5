// SPDX-License-Identifier: Apache-2.0
// A segment of a partitioned graph as a network of layers that an NVDLA's registers can run. Not
// here: how layers are cut and where they lie (network_planner.h).
#pragma once

#include <string>
#include <vector>

#include "sim/compile/partition.h"
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
    std::vector<std::vector<std::string>> layers;  ///< of every group of the segment
    std::vector<std::vector<std::string>> reads;   ///< layers and inputs that each group reads
};

/// Of segment `index`. A graph of one segment gives its name to the network.
RegisterNetwork register_network(const GraphView& model, const Partition& partition,
                                 std::size_t index);

}  // namespace npuscope
