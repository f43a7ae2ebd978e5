// SPDX-License-Identifier: Apache-2.0
// Single-point data processor: bias, batch normalisation and element-wise stages, convertor.
#pragma once

#include "models/base/quantity.h"

namespace npuscope {

/// Defaults are nv_small's. source: nv_small hardware specification, nv_small.spec
struct SdpConfig {
    bool bs = true;
    bool bn = true;
    bool element_wise = false;
    bool lut = true;
    std::uint32_t bs_throughput = 1;
    std::uint32_t bn_throughput = 1;
    std::uint32_t element_wise_throughput = 1;
    std::uint32_t output_throughput = 1;
    Cycles start_up{22};
    Cycles tail{13};
    Cycles bs_latency{6};
    Cycles bn_latency{7};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("bs", self.bs, "the first stage (X1, bias) exists");
        visit.field("bn", self.bn, "the second stage (X2, batch normalisation) exists");
        visit.field("element_wise", self.element_wise, "the third stage (Y, element-wise) exists");
        visit.field("lut", self.lut, "the element-wise stage, where it exists, has lookup tables");
        visit.field("bs_throughput", self.bs_throughput, "elements per cycle of the first stage");
        visit.field("bn_throughput", self.bn_throughput, "elements per cycle of the second stage");
        visit.field("element_wise_throughput", self.element_wise_throughput,
                    "elements per cycle of the element-wise stage");
        visit.field("output_throughput", self.output_throughput,
                    "elements per cycle of the output converter");
        visit.field("start_up", self.start_up, "cycles from op-enable to the first request");
        visit.field("tail", self.tail, "cycles from the last write response to the interrupt");
        visit.field("bs_latency", self.bs_latency, "cycles that the first stage adds when active");
        visit.field("bn_latency", self.bn_latency, "cycles that the second stage adds when active");
    }
};

}  // namespace npuscope
