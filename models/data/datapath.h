// SPDX-License-Identifier: Apache-2.0
// The widths that several units share: they shape the convolution's weight order, the feature cube in
// memory and the buffers in between. All are elements of one byte except where a unit is named.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

struct DatapathConfig {
    std::uint32_t atomic_c = 8;
    std::uint32_t atomic_k = 8;
    Bytes memory_atom{8};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("atomic_c", self.atomic_c,
                    "input channels that one MAC cell multiplies in a cycle; depth of a weight cube");
        visit.field("atomic_k", self.atomic_k,
                    "MAC cells, hence kernels per weight group at one byte a weight");
        visit.field("memory_atom", self.memory_atom,
                    "bytes of one feature atom: 1 x 1 x as many channels as fit");
    }
};

}  // namespace npuscope
