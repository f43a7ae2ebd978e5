// SPDX-License-Identifier: Apache-2.0
// The configuration bus as the host sees it: what an access to a register costs.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

struct CsbConfig {
    Cycles write_cycles{2};
    Cycles read_cycles{20};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("write_cycles", self.write_cycles, "cycles of one posted register write");
        visit.field("read_cycles", self.read_cycles, "cycles of one register read");
    }
};

}  // namespace npuscope
