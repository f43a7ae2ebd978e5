// SPDX-License-Identifier: Apache-2.0
// What a model's operators cost on the host, where the NPU does not take them: an estimate without
// a source, in cycles of the NPU's clock. Which CPU that is, and how well it is programmed, is not
// part of an NPU.
#pragma once

#include <cstdint>

#include "models/base/describe.h"
#include "models/base/quantity.h"

namespace npuscope {

/// What the host's own work costs.
struct HostConfig {
    std::uint32_t cycles_per_mac = 8;
    std::uint32_t cycles_per_element = 8;
    Cycles operator_overhead{200};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("cycles_per_mac", self.cycles_per_mac,
                    "cycles of a multiplication and addition in a layer left to the host");
        visit.field("cycles_per_element", self.cycles_per_element,
                    "cycles per element that another operator gives");
        visit.field("operator_overhead", self.operator_overhead, "cycles to call an operator");
    }
};

}  // namespace npuscope
