// SPDX-License-Identifier: Apache-2.0
// The convolution buffer: banks of entries, split between feature data and weights per layer.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

struct CbufConfig {
    std::uint32_t banks = 32;
    Bytes bank_width{8};
    std::uint32_t bank_depth = 512;

    Bytes capacity() const { return bank_width * bank_depth * banks; }

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("banks", self.banks, "banks, each given to data or to weights by D_BANK");
        visit.field("bank_width", self.bank_width, "bytes of one entry");
        visit.field("bank_depth", self.bank_depth, "entries of one bank");
    }
};

}  // namespace npuscope
