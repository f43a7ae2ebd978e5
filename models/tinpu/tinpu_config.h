// SPDX-License-Identifier: Apache-2.0
// Knobs of a TINPU, TI's layer engine for microcontrollers. Its micro-architecture is not public:
// every number here is an estimate that presets calibrate on published run times of whole models.
#pragma once

#include <cstdint>
#include <string>

#include "models/base/quantity.h"

namespace npuscope {

struct TinpuConfig {
    std::uint32_t input_lanes = 4;
    std::uint32_t output_lanes = 4;
    std::uint32_t depthwise_lanes = 4;
    std::uint32_t pool_lanes = 4;
    std::uint32_t cycles_per_step = 1;
    std::uint32_t store_cycles = 1;
    Bytes bus_width{4};
    Cycles layer_overhead{500};
    Cycles row_overhead{0};
    Bytes memory{32 * 1024};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("input_lanes", self.input_lanes,
                    "input channels multiplied at a time in a convolution");
        visit.field("output_lanes", self.output_lanes,
                    "output channels computed at a time in a convolution");
        visit.field("depthwise_lanes", self.depthwise_lanes,
                    "channels at a time in a depth-wise convolution");
        visit.field("pool_lanes", self.pool_lanes, "channels at a time in a pool");
        visit.field("cycles_per_step", self.cycles_per_step,
                    "cycles of one step of the array: input_lanes x output_lanes products");
        visit.field("store_cycles", self.store_cycles,
                    "cycles to normalise and store the outputs of one step");
        visit.field("bus_width", self.bus_width, "bytes that memory moves per cycle");
        visit.field("layer_overhead", self.layer_overhead,
                    "cycles that the host spends to set up and await a layer");
        visit.field("row_overhead", self.row_overhead, "cycles at the beginning of an output row");
        visit.field("memory", self.memory, "memory for feature maps");
    }
};

}  // namespace npuscope
