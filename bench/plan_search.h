// SPDX-License-Identifier: Apache-2.0
// One convolution of a network by itself: the cycles of the planner's way of cutting it, and those
// of the best among all ways, each simulated.
#pragma once

#include <string>
#include <vector>

#include "sim/compile/nvdla/conv_tiling.h"
#include "sim/compile/nvdla/tiling_estimate.h"
#include "sim/config/system_config.h"
#include "sim/model/network.h"

namespace npuscope::bench {

/// A layer, and how often the network has one of its shape.
struct LayerCase {
    Network network;  ///< only the layer
    std::uint32_t times = 1;
};

/// Distinct convolutions of a network.
std::vector<LayerCase> layer_cases(const Network& network);

struct SearchResult {
    TilingKey chosen;
    Cycles estimate;       ///< of the planner's choice
    Cycles chosen_cycles;  ///< simulated
    Cycles mac;            ///< of these, with the MAC cells at work
    Cycles sdp;            ///< of these, waiting for the SDP to take sums
    Cycles best_cycles;    ///< simulated, over all ways
    TilingKey best;
    std::size_t tried = 0;    ///< ways that were simulated
    std::size_t skipped = 0;  ///< ways whose lower bound exceeds the best
    LayerBounds bounds;
};

/// Every number of tiles that differs in height, every split of the banks that holds another number
/// of tiles or kernel groups, weights kept or not.
SearchResult search_layer(const LayerCase& layer, const SystemConfig& system);

}  // namespace npuscope::bench
