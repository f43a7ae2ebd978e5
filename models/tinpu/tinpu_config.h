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
    Bytes read_buffer{1024};
    std::uint32_t weight_buffers = 1;
    std::uint32_t launch_queue = 1;
    Cycles layer_overhead{1637};
    Bytes alignment{4};
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
        visit.field("read_buffer", self.read_buffer,
                    "bytes that each reader asks for ahead of their use");
        visit.field("weight_buffers", self.weight_buffers,
                    "layers whose weights the engine holds; with 2, the next layer's come while "
                    "one is computed");
        visit.field("launch_queue", self.launch_queue,
                    "layers that the host launches before the first of them has ended");
        visit.field("layer_overhead", self.layer_overhead,
                    "cycles that the host spends to set up and await a layer");
        visit.field("alignment", self.alignment, "surfaces begin at multiples of it");
        visit.field("memory", self.memory, "memory for feature maps");
    }
};

}  // namespace npuscope
