// SPDX-License-Identifier: Apache-2.0
// Knobs of a TINPU, TI's layer engine for microcontrollers. Its micro-architecture is not public:
// every number here is an estimate that presets calibrate on published run times of whole models.
#pragma once

#include <cstdint>
#include <string>

#include "models/base/quantity.h"

namespace npuscope {

struct TinpuConfig {
    std::uint32_t input_lanes = 1;
    std::uint32_t output_lanes = 4;
    std::uint32_t cycles_per_100_steps = 261;
    std::uint32_t cycles_per_100_pool_taps = 1385;
    std::uint32_t cycles_per_100_weight_bytes = 517;
    Bytes bus_width{4};
    Cycles layer_overhead{1637};
    Bytes memory{std::uint64_t{32} * 1024};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("input_lanes", self.input_lanes,
                    "input channels multiplied in one step of a convolution");
        visit.field("output_lanes", self.output_lanes,
                    "output channels, or channels of a depth-wise convolution, in one step");
        visit.field("cycles_per_100_steps", self.cycles_per_100_steps,
                    "cycles of a hundred steps of input_lanes x output_lanes products");
        visit.field("cycles_per_100_pool_taps", self.cycles_per_100_pool_taps,
                    "cycles to read a hundred elements of pooling windows");
        visit.field("cycles_per_100_weight_bytes", self.cycles_per_100_weight_bytes,
                    "cycles to bring a hundred bytes of packed weights into the engine");
        visit.field("bus_width", self.bus_width, "bytes of feature maps that move per cycle");
        visit.field("layer_overhead", self.layer_overhead,
                    "cycles that the host spends to set up and await a layer");
        visit.field("memory", self.memory, "memory for feature maps");
    }
};

}  // namespace npuscope
