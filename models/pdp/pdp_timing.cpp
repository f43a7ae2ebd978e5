// SPDX-License-Identifier: Apache-2.0
#include "models/pdp/pdp_timing.h"

namespace npuscope {

Cycles pooling_slot(std::uint64_t elements, std::uint32_t throughput) {
    return Cycles(divide_up(elements, throughput));
}

std::vector<std::uint32_t> windows_ending(const PoolingAxis& axis) {
    std::vector<std::uint32_t> ending(axis.in_size, 0);
    for (std::uint32_t window = 0; window < axis.out_size; ++window) {
        const std::uint32_t end = window * axis.stride + axis.kernel;  // padding included
        const std::uint32_t last = end > axis.pad_before + 1 ? end - axis.pad_before - 1 : 0;
        ++ending[std::min(last, axis.in_size - 1)];
    }
    return ending;
}

}  // namespace npuscope
