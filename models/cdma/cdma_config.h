// SPDX-License-Identifier: Apache-2.0
// Convolution DMA: fetches feature or pixel data and weights into the convolution buffer.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

struct CdmaConfig {
    bool weight_compression = false;
    bool winograd = false;
    std::uint32_t max_batch = 1;
    Cycles flush{8200};
    Cycles start_up{47};
    std::uint32_t surface_group = 4;
    Cycles row_overhead{2};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("weight_compression", self.weight_compression, "WMB/WGS decompression exists");
        visit.field("winograd", self.winograd, "Winograd mode exists");
        visit.field("max_batch", self.max_batch, "input cubes of one operation at most");
        visit.field("flush", self.flush, "cycles after reset until S_CBUF_FLUSH_STATUS reads 1");
        visit.field(
            "start_up", self.start_up,
            "cycles from op-enable to the first write into CBUF, beside the memory's latency");
        visit.field("surface_group", self.surface_group,
                    "surfaces that the data fetch takes side by side, line by line");
        visit.field("row_overhead", self.row_overhead,
                    "cycles lost per line and full group of surfaces");
    }
};

}  // namespace npuscope
