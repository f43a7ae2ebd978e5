// SPDX-License-Identifier: Apache-2.0
// Reshape engine RUBIK. Its RTL was never measured: times without a source of their own are those
// of nv_small's other DMA clients.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

struct RubikConfig {
    bool present = false;
    std::uint32_t read_ahead = 80;  // source: nv_full RTL, NV_NVDLA_MCIF_READ_ig.v
    std::uint32_t read_runs = 33;   // unknown: as the CDP's
    Cycles read_again{17};          // unknown: as the PDP's
    Cycles start_up{21};            // unknown: as the PDP's
    Cycles forward{1};              // unknown: at least a register after the reorder buffer
    Cycles tail{11};                // unknown: as the PDP's

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("present", self.present, "the unit exists");
        visit.field("read_ahead", self.read_ahead, "beats that the latency FIFO of reads holds");
        visit.field("read_runs", self.read_runs, "lines in flight");
        visit.field("read_again", self.read_again,
                    "cycles from a place of the latency FIFO being free to the next request");
        visit.field("start_up", self.start_up, "cycles from op-enable to the first read");
        visit.field("forward", self.forward,
                    "cycles from the last byte that a line needs to its write");
        visit.field("tail", self.tail, "cycles from the last write response to the interrupt");
    }
};

}  // namespace npuscope
