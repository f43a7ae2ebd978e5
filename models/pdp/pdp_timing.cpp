// SPDX-License-Identifier: Apache-2.0
#include "models/pdp/pdp_timing.h"

#include <algorithm>

namespace npuscope {

Cycles pooling_atom_cycles(std::uint64_t elements, std::uint32_t throughput) {
    return Cycles(divide_up(elements, throughput));
}

std::uint32_t last_input_line(const PoolingShape& shape, std::uint32_t y) {
    const std::uint32_t end = y * shape.stride_y + shape.kernel_height;
    const std::uint32_t last = end > shape.pad_top + 1 ? end - shape.pad_top - 1 : 0;
    return std::min(last, shape.in_height - 1);
}

}  // namespace npuscope
