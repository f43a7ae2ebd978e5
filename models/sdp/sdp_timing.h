// SPDX-License-Identifier: Apache-2.0
// How fast the SDP takes atoms. Its narrowest active stage sets the pace; from the accumulator an
// atom costs one cycle more, because the hand-over has a bubble. Source: nv_small RTL, measured (8
// cycles an atom from memory, 9 from the accumulator).
#pragma once

#include <cstdint>

#include "models/base/quantity.h"

namespace npuscope {

/// What an atom's time depends on.
struct SdpPace {
    std::uint64_t elements{8};    ///< of one atom
    std::uint32_t throughput{1};  ///< elements per cycle of the narrowest active stage
    bool flying{false};           ///< from the accumulator
};

inline Cycles sdp_atom_cycles(const SdpPace& pace) {
    return Cycles(divide_up(pace.elements, pace.throughput) + (pace.flying ? 1 : 0));
}

}  // namespace npuscope
