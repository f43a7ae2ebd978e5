// SPDX-License-Identifier: Apache-2.0
// Convolution sequence controller: cuts a layer into kernel groups, stripes and channel blocks.
// Times are nv_small's; source: nv_small RTL, measured on 588 layers and settings.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

struct CscConfig {
    std::uint32_t stripe_groups = 2;  // source: nv_small RTL, CSC_sg.v, upper and lower limit
    std::uint32_t shortest_load = 2;
    bool miscounts_image_blocks = true;  // source: nv_small RTL, CSC_dl.v channel_op_cnt
    Cycles weight_to_mac{29};
    Cycles data_to_mac{32};
    Cycles weight_release{4};
    Cycles data_release{17};
    Cycles next_operation{65};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("stripe_groups", self.stripe_groups,
                    "outputs of a full stripe, as a multiple of the MAC cells");
        visit.field("shortest_load", self.shortest_load,
                    "cycles that loading a kernel group into the MAC cells takes at least; else "
                    "one a kernel");
        visit.field("miscounts_image_blocks", self.miscounts_image_blocks,
                    "kernel rows of three blocks and more of pixels may meet wrong ones");
        visit.field(
            "weight_to_mac", self.weight_to_mac,
            "cycles from a group's last weight entry in CBUF to its first atom in the MACs, "
            "beside the loading");
        visit.field(
            "data_to_mac", self.data_to_mac,
            "cycles from the last data entry in CBUF to the first atom, beside the loading");
        visit.field("weight_release", self.weight_release,
                    "cycles from the loading of a group's last block until its entries can be "
                    "requested anew");
        visit.field("data_release", self.data_release,
                    "cycles from the last atom in the MACs until the data's entries are free");
        visit.field("next_operation", self.next_operation,
                    "cycles from an operation's last atom in the MACs to the next one's first");
    }
};

}  // namespace npuscope
