// SPDX-License-Identifier: Apache-2.0
#include "models/pdp/pdp_timing.h"

namespace npuscope {

Cycles pooling_slot(std::uint64_t elements, std::uint32_t throughput) {
    return Cycles(divide_up(elements, throughput));
}

std::vector<std::uint32_t> windows_ending(const PoolingSteps& axis) {
    std::vector<std::uint32_t> ending(axis.in_size, 0);
    for (std::uint32_t window = 0; window < axis.out_size; ++window) {
        const std::uint32_t end = window * axis.stride + axis.kernel;  // padding included
        const std::uint32_t last = end > axis.pad_before + 1 ? end - axis.pad_before - 1 : 0;
        ++ending[std::min(last, axis.in_size - 1)];
    }
    return ending;
}

/// source: NV_NVDLA_PDP_CORE_cal2d.v, buffer_lines_num
std::uint32_t buffered_lines(std::uint32_t kernel, std::uint32_t stride) {
    if (stride >= kernel) {
        return 1;
    }
    switch (stride) {
        case 1:
            return kernel;
        case 2:
            return (kernel + 1U) / 2U;
        case 3:
            return kernel <= 6 ? 2 : 3;
        default:
            return 2;
    }
}

/// source: NV_NVDLA_PDP_CORE_cal2d.v, bubble_num_use
std::uint32_t lines_in_the_way(const PoolingSteps& rows) {
    const std::uint32_t ending = windows_ending(rows).back();
    const std::uint32_t flushed = ending == 0 ? 0 : ending - 1;
    const bool small = rows.in_size + rows.pad_before < rows.kernel;
    const std::uint32_t before_first = small ? rows.in_size : rows.kernel - rows.pad_before;
    const std::uint32_t at_once = flushed >= before_first ? flushed - before_first + 1 : 0;
    const std::uint32_t in_next = flushed - at_once;
    if (in_next < 2) {
        return at_once;
    }
    // the next surface begins in the slots of its windows that reach into the padding
    const std::uint32_t taken = rows.pad_before / rows.stride + 1;
    const std::uint32_t places = buffered_lines(rows.kernel, rows.stride);
    for (std::uint32_t held = in_next; held > 0; --held) {
        const std::uint32_t line = rows.out_size - flushed + at_once + held - 1;
        if (line % places < taken) {
            return at_once + held;
        }
    }
    return at_once;
}

PooledAtoms PoolingPace::flush_line(bool hold) {
    PooledAtoms line{flushed_ + slot_ + gap_, {}, out_width_};
    line.last = flushed_ = line.first + slot_ * (out_width_ - 1);
    if (hold) {
        gap_ = Cycles(0);
        output_ = column_ = flushed_;
    }
    return line;
}

}  // namespace npuscope
