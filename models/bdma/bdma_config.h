// SPDX-License-Identifier: Apache-2.0
// Bridge DMA: copies lines between the memories of the two ports. Its RTL was never measured: times
// without a source of their own are those of nv_small's other DMA clients.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

struct BdmaConfig {
    bool present = false;
    std::uint32_t commands = 20;     // source: nv_full RTL, NV_NVDLA_BDMA_csb.v, free_slot
    std::uint32_t read_ahead = 245;  // source: nv_full RTL, NV_NVDLA_MCIF_READ_ig.v
    std::uint32_t read_runs = 20;    // source: nv_full RTL, NV_NVDLA_BDMA_cq.v
    Cycles read_again{17};           // unknown: as the PDP's
    Cycles start_up{21};             // unknown: as the PDP's
    Cycles forward{1};               // unknown: at least a register between load and store
    Cycles tail{11};                 // unknown: as the PDP's

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("present", self.present, "the unit exists");
        visit.field("commands", self.commands, "copies that may wait for their turn");
        visit.field("read_ahead", self.read_ahead, "beats that the latency FIFO of reads holds");
        visit.field("read_runs", self.read_runs, "lines in flight");
        visit.field("read_again", self.read_again,
                    "cycles from a place of the latency FIFO being free to the next request");
        visit.field("start_up", self.start_up, "cycles from a launch to the first read");
        visit.field("forward", self.forward, "cycles from a line's last byte to its write");
        visit.field("tail", self.tail, "cycles from the last write response to the interrupt");
    }
};

}  // namespace npuscope
