// SPDX-License-Identifier: Apache-2.0
// When pooling takes atoms and when it has an output line. The unit works on one element at a time
// (or as many as its throughput), so an input atom takes a fixed time; an output line is there when
// the last input line of its windows is. Source: nv_small RTL, measured (pooling from memory,
// input-bound).
#pragma once

#include <cstdint>

#include "models/base/quantity.h"

namespace npuscope {

/// What the time of a pooling depends on.
struct PoolingShape {
    std::uint32_t in_height{1};
    std::uint32_t out_height{1};
    std::uint32_t kernel_height{1};
    std::uint32_t stride_y{1};
    std::uint32_t pad_top{0};
};

/// Cycles of one atom: its elements over the elements per cycle.
Cycles pooling_atom_cycles(std::uint64_t elements, std::uint32_t throughput);

/// Input line after which output line `y` is complete.
std::uint32_t last_input_line(const PoolingShape& shape, std::uint32_t y);

}  // namespace npuscope
