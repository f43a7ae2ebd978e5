// SPDX-License-Identifier: Apache-2.0
// One copy of the bridge DMA: lines of whole atoms, repeated in two directions, each side with its
// own strides.
//
//     line(i, j) = base + j * surface_stride + i * line_stride      i < lines, j < surfaces
//
// source: NVDLA register specification, NVDLA_BDMA.rdl; doc v1/ias/unit_description.rst
#pragma once

#include <cstdint>

#include "models/base/quantity.h"

namespace npuscope {

// Bridge DMA: copies lines between the memories of the two ports. Its RTL was never measured: times
// without their own source are those of nv_small's other DMA clients.

struct BdmaConfig {
    bool present = false;
    std::uint32_t commands = 20;     // source: nv_full RTL, NV_NVDLA_BDMA_csb.v, free_slot
    std::uint32_t read_ahead = 245;  // source: nv_full RTL, NV_NVDLA_MCIF_READ_ig.v
    Cycles read_again{17};           // unknown: as the PDP's
    Cycles start_up{21};             // unknown: as the PDP's
    Cycles forward{1};               // unknown: at least a register between load and store
    Cycles tail{11};                 // unknown: as the PDP's

    /// Values specific to the generation nvdlav1. source: nv_full RTL, simulated
    void derive_v1() {
        start_up = Cycles(20);
        forward = Cycles(17);
    }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("present", self.present, "the unit exists");
        visit.field("commands", self.commands, "copies that can be queued");
        visit.field("read_ahead", self.read_ahead, "beats that the latency FIFO of reads holds");
        visit.field("read_again", self.read_again,
                    "cycles from a slot of the latency FIFO becoming free to the next request");
        visit.field("start_up", self.start_up, "cycles from a launch to the first read");
        visit.field("forward", self.forward,
                    "cycles from the last byte of a line (nv_full: of a burst) to its write");
        visit.field("tail", self.tail, "cycles from the last write response to the interrupt");
    }
};

/// Where the lines of one side are.
struct BdmaSide {
    Address base;
    Bytes line_stride;
    Bytes surface_stride;
    bool in_sram = false;

    Address line(std::uint32_t number, std::uint32_t surface) const {
        return base + line_stride * number + surface_stride * surface;
    }
    bool operator==(const BdmaSide&) const = default;
};

struct BdmaJob {
    BdmaSide source;
    BdmaSide destination;
    Bytes line;
    std::uint32_t lines = 1;
    std::uint32_t surfaces = 1;

    bool operator==(const BdmaJob&) const = default;
};

}  // namespace npuscope
