// SPDX-License-Identifier: Apache-2.0
// Planar data processor: pooling, fed by the SDP or from memory.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

/// Defaults are nv_small's. source: nv_small hardware specification, nv_small.spec
struct PdpConfig {
    bool present = true;
    std::uint32_t throughput = 1;
    std::uint32_t line_buffer_banks = 8;
    std::uint32_t line_buffer_bank_atoms = 16;
    Cycles start_up{22};
    Cycles tail{10};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("present", self.present, "the unit exists");
        visit.field("throughput", self.throughput, "elements per cycle");
        visit.field("start_up", self.start_up, "cycles from op-enable to the first read");
        visit.field("tail", self.tail, "cycles from the last write response to the interrupt");
        // source: NV_NVDLA_PDP_CORE_cal2d.v, "bank depth follows rule of 16 elements in width"
        visit.field("line_buffer_banks", self.line_buffer_banks,
                    "banks that the overlapping output lines share");
        visit.field("line_buffer_bank_atoms", self.line_buffer_bank_atoms,
                    "output atoms that one bank of the line buffer holds");
    }
};

}  // namespace npuscope
