// SPDX-License-Identifier: Apache-2.0
// Times the read beats of a memory whose latency and interval are not fixed, such as a DRAM. The
// port asks beat by beat, in the order in which it issues them; data comes back in that order.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

class BeatTimer {
 public:
    BeatTimer() = default;
    BeatTimer(const BeatTimer&) = delete;
    BeatTimer& operator=(const BeatTimer&) = delete;
    virtual ~BeatTimer() = default;

    /// First cycle in which the beat that was asked for in `asked` can be on the port.
    virtual Cycles read_beat(Address address, Cycles asked) = 0;
};

}  // namespace npuscope
