// SPDX-License-Identifier: Apache-2.0
// Convolution DMA: fetches feature or pixel data and weights into the convolution buffer. Times are
// nv_small's; source: nv_small RTL, measured on 588 layers and settings.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

struct CdmaConfig {
    bool weight_compression = false;
    bool winograd = false;
    std::uint32_t max_batch = 1;
    Cycles flush{8200};
    std::uint32_t request_atoms = 8;  // source: nv_small RTL, CDMA_dc.v and CDMA_wt.v
    Cycles data_request{33};
    Cycles surface_gap{1};  // source: nv_small RTL, CDMA_dc.v, cbuf_is_ready
    Cycles grain_gap{1};    // source: nv_small RTL, CDMA_dc.v
    Cycles data_pipe{3};
    Cycles data_write{7};
    Cycles weight_request{29};
    Cycles weight_write{10};
    Cycles group_interval{2};  // source: nv_small RTL, CDMA_wt.v, status update
    Cycles image_request{30};
    Cycles image_start{20};
    Cycles image_line_gap{1};
    Cycles image_line_tail{22};
    Cycles image_pad_tail{2};
    Cycles next_operation{4};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("weight_compression", self.weight_compression, "WMB/WGS decompression exists");
        visit.field("winograd", self.winograd, "Winograd mode exists");
        visit.field("max_batch", self.max_batch, "input cubes of one operation at most");
        visit.field("flush", self.flush, "cycles after reset until S_CBUF_FLUSH_STATUS reads 1");
        visit.field("request_atoms", self.request_atoms, "atoms or beats of one request at most");
        visit.field("data_request", self.data_request,
                    "cycles from op-enable to the first request of feature data at the arbiter");
        visit.field("surface_gap", self.surface_gap,
                    "cycles without a request after the lines of one surface");
        visit.field("grain_gap", self.grain_gap, "more such cycles after the last surface");
        visit.field("data_pipe", self.data_pipe,
                    "cycles from a beat of feature data on the bus to the DMA's first stage");
        visit.field("data_write", self.data_write,
                    "cycles from taking a beat out of the last stage to its write into CBUF");
        visit.field("weight_request", self.weight_request,
                    "cycles from op-enable to the first request of weights at the arbiter");
        visit.field("weight_write", self.weight_write,
                    "cycles from a beat of weights on the bus to its write into CBUF");
        visit.field("group_interval", self.group_interval,
                    "cycles between two kernel groups that become known to the sequencer");
        visit.field("image_request", self.image_request,
                    "cycles from op-enable to the first request of pixels at the arbiter");
        visit.field("image_start", self.image_start,
                    "cycles from the first beat behind the first full request to the first line's "
                    "packing");
        visit.field("image_line_gap", self.image_line_gap,
                    "cycles of packing a line beside one for each entry");
        visit.field("image_line_tail", self.image_line_tail,
                    "cycles from a line's last beat on the bus to its last entry in CBUF; one more "
                    "when its last request has more than two beats");
        visit.field("image_pad_tail", self.image_pad_tail,
                    "the same, more with padding on the left");
        visit.field("next_operation", self.next_operation,
                    "cycles by which the next operation starts before the last entry is written");
    }
};

}  // namespace npuscope
