// SPDX-License-Identifier: Apache-2.0
// Convolution accumulator: partial sums, truncation, and credits that hold the sequencer back.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

struct CaccConfig {
    std::uint32_t credits = 16;
    Cycles fill_latency{15};
    Cycles credit_return{25};
    std::uint32_t partial_sum_bits = 34;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("credits", self.credits, "atoms that may wait for SDP");
        visit.field("fill_latency", self.fill_latency,
                    "cycles from an atom's last MAC to the accumulator's output");
        visit.field("credit_return", self.credit_return,
                    "cycles from SDP taking an atom to the sequencer having its credit back");
        visit.field("partial_sum_bits", self.partial_sum_bits,
                    "width at which a partial sum saturates, int8");
    }
};

}  // namespace npuscope
