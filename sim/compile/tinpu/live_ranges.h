// SPDX-License-Identifier: Apache-2.0
// From when to when feature maps that an NPU reads or writes are needed, and where they can lie so
// that none disturbs another.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "sim/compile/partition.h"
#include "sim/model/graph.h"

namespace npuscope {

/// A map is alive from the node that makes it to the last that reads it.
struct LiveRange {
    std::string tensor;
    Bytes bytes;
    std::size_t first = 0;  ///< node; 0 where none makes it
    std::size_t last = 0;
    std::string layer;  ///< the first that uses it
};

/// In the order in which layers name them. A layer holds what it reads until its last node.
std::vector<LiveRange> live_ranges(const Graph& graph, const Partition& partition);

/// Most bytes alive at a time.
Bytes peak_bytes(const std::vector<LiveRange>& ranges);

/// Offsets at multiples of `alignment`, by tensor; maps that are alive together lie apart.
std::map<std::string, Bytes> place_maps(const std::vector<LiveRange>& ranges, Bytes alignment);

}  // namespace npuscope
