// SPDX-License-Identifier: Apache-2.0
// Memory interface of the NPU: one read and one write channel to a port, shared by the DMA clients.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

struct McifConfig {
    Bytes bus_width{8};
    std::uint32_t max_burst = 1;
    std::uint32_t address_bits = 32;
    std::uint32_t outstanding_reads = 256;  // source: nv_small RTL, counter of reads in flight
    Cycles slot_return{3};                  // source: nv_small RTL, measured
    bool secondary_port = false;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("bus_width", self.bus_width, "bytes of one beat of the primary port");
        visit.field("max_burst", self.max_burst, "beats of the longest burst");
        visit.field("address_bits", self.address_bits, "width of an address on the ports");
        visit.field("outstanding_reads", self.outstanding_reads, "read beats in flight at most");
        visit.field("slot_return", self.slot_return,
                    "cycles from a beat's arrival to the command that takes its place in flight");
        visit.field("secondary_port", self.secondary_port,
                    "a second port, for SRAM, exists; a program that uses it is refused otherwise");
    }
};

}  // namespace npuscope
