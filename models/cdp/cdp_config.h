// SPDX-License-Identifier: Apache-2.0
// Channel data processor: local response normalisation across channels, by lookup table.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

/// Defaults are nv_small's. source: nv_small hardware specification, nv_small.spec
struct CdpConfig {
    bool present = true;
    std::uint32_t throughput = 1;
    Cycles start_up{78};
    Cycles tail{11};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("present", self.present, "the unit exists");
        visit.field("throughput", self.throughput, "elements per cycle");
        visit.field("start_up", self.start_up, "cycles from op-enable to the first read");
        visit.field("tail", self.tail, "cycles from the last write response to the interrupt");
    }
};

}  // namespace npuscope
