// SPDX-License-Identifier: Apache-2.0
// Two convolutions in the two register groups, enabled back to back, as a register program
// generated from their shapes. Values are seeded random bytes; no result is expected. Surfaces are
// packed; the weights' size is rounded up to 128 bytes; one grain per fetch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/program/program.h"

namespace npuscope::bench {

/// A convolution with square kernels, stride 1 and the same padding on all sides.
struct LayerShape {
    std::uint32_t width = 1;
    std::uint32_t height = 1;
    std::uint32_t channels = 1;
    std::uint32_t kernels = 1;
    std::uint32_t kernel_size = 1;
    std::uint32_t padding = 0;
    std::uint32_t data_banks = 1;
    std::uint32_t weight_banks = 1;

    std::uint32_t out_width() const { return width + 2 * padding - kernel_size + 1; }
    std::uint32_t out_height() const { return height + 2 * padding - kernel_size + 1; }
};

/// One layer or two; layer i uses register group i.
struct LayerPair {
    std::vector<LayerShape> layers;
};

/// The program's text in the trace format.
std::string trace_of(const LayerPair& pair);

Program program_of(const LayerPair& pair, const std::string& name);

}  // namespace npuscope::bench
