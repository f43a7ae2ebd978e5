// SPDX-License-Identifier: Apache-2.0
// Consecutive reads of one register by a host that polls for a value: whether the next will take as
// long as the last and, if nothing else is going on, return the same. A poll that cannot succeed
// any more then ends in one step, however often the program wants to read.
#pragma once

#include <cstdint>

#include "models/base/quantity.h"

namespace npuscope {

/// Reads of one register after which a poll that never succeeds counts as a stopped machine.
inline constexpr unsigned poll_limit = 100'000;

class SteadyReads {
 public:
    /// What a read returned, and when it was over; true if the next will be alike.
    bool after_read(std::uint32_t value, Cycles time) {
        const Cycles period = time - last_;
        same_ = value == value_ && period == period_ ? same_ + 1 : 0;
        value_ = value;
        period_ = period;
        last_ = time;
        return same_ > enough;
    }
    /// From the end of one read to that of the next.
    Cycles period() const { return period_; }

 private:
    static constexpr unsigned enough = 64;  // more than any FIFO between the clocks holds

    std::uint32_t value_ = 0;
    Cycles period_;
    Cycles last_;
    unsigned same_ = 0;
};

}  // namespace npuscope
