// SPDX-License-Identifier: Apache-2.0
// When the configuration bus accepts an access and when the access reaches its register. The bus
// crosses from the host's clock to the core's in a small FIFO; in front of it stands a register for
// one access:
//
//     accepted(i) = max(presented(i), effect(i - 1) + 1)
//     effect(i)   = max(accepted(i), effect(i - depth) + round_trip)
//
// So a stream of posted writes is accepted five at once, then in groups of four. Not modelled:
// clocks of different frequency. Source: nv_small RTL, measured (streams of writes, polls between).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "models/base/quantity.h"

namespace npuscope {

struct CsbAccessTimes {
    Cycles accepted;  ///< handshake with the host
    Cycles effect;    ///< the register changes, or is looked at

    bool operator==(const CsbAccessTimes&) const = default;
};

class CsbQueue {
 public:
    CsbQueue(std::uint32_t depth, Cycles round_trip) : depth_(depth), round_trip_(round_trip) {}

    /// The next access, which the host presents at `time`; times do not fall.
    CsbAccessTimes present(Cycles time);

 private:
    std::size_t depth_;
    Cycles round_trip_;
    std::deque<Cycles> effects_;  // of the last `depth_` accesses
};

}  // namespace npuscope
