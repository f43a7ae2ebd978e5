// SPDX-License-Identifier: Apache-2.0
// Convolution sequence controller: cuts a layer into kernel groups, stripes and channel blocks.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

struct CscConfig {
    std::uint32_t full_stripe = 16;
    Cycles data_to_mac{40};
    Cycles weight_to_mac{37};
    Cycles release_to_refill{65};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("full_stripe", self.full_stripe,
                    "outputs whose partial sums one stripe computes, where nothing cuts it short");
        visit.field("data_to_mac", self.data_to_mac,
                    "cycles from the last data entry in CBUF to the first atom in the MACs");
        visit.field("weight_to_mac", self.weight_to_mac,
                    "cycles from the last weight entry of the first group to the first atom");
        visit.field(
            "release_to_refill", self.release_to_refill,
            "cycles from a released weight entry to its refill, beside the memory's latency");
    }
};

}  // namespace npuscope
