// SPDX-License-Identifier: Apache-2.0
// How many windows the PDP ends at the end of its input: with the last position those that are
// open, if any, as one result, and afterwards padding / stride more, as if windows covered the
// padded input without a remainder. If they do not and the difference amounts to a window, it
// produces more results per line, or more lines, than there are windows. Results that are not taken
// stay in it: the operation itself may hang, and the next one begins with them.
// source: NV_NVDLA_PDP_CORE_cal1d.v, flush_num, and NV_NVDLA_PDP_CORE_cal2d.v, flush_num; of all
// branches. Random pooling operations of every kind were run on nv_full's RTL, each followed by
// another.
#pragma once

#include <cstdint>

namespace npuscope {

/// One axis of a pooling's input.
struct PooledExtent {
    std::uint32_t pad_before = 0;
    std::uint32_t size = 0;
    std::uint32_t pad_after = 0;
};

/// The padded positions at the end that no window covers.
constexpr std::uint32_t uncovered(const PooledExtent& axis, std::uint32_t kernel,
                                  std::uint32_t stride) {
    return (axis.pad_before + axis.size + axis.pad_after - kernel) % stride;
}

/// Windows whose last position is the input's last one or after it.
constexpr std::uint32_t ending_windows(const PooledExtent& axis, std::uint32_t kernel,
                                       std::uint32_t stride) {
    const std::uint32_t rest = uncovered(axis, kernel, stride);
    const std::uint32_t padded = axis.pad_before + axis.size + axis.pad_after - kernel;
    if (axis.pad_after < rest) {
        return 0;
    }
    // no more than there are: the first window may reach beyond a small input
    const std::uint32_t windows = padded / stride + 1;
    const std::uint32_t ending = (axis.pad_after - rest) / stride + 1;
    return ending < windows ? ending : windows;
}

/// How many of them the PDP ends there.
constexpr std::uint32_t flushed_windows(const PooledExtent& axis, std::uint32_t kernel,
                                        std::uint32_t stride) {
    const std::uint32_t by_padding = axis.pad_after / stride;
    if (by_padding == 0) {
        return ending_windows(axis, kernel, stride);  // at most one, which the last position ends
    }
    if (axis.pad_before + axis.size >= kernel) {
        return by_padding + 1;
    }
    // an input smaller than the kernel: what its windows leave is compared with whole strides
    const std::uint32_t left = axis.pad_before + axis.size + axis.pad_after - kernel;
    return left % stride == 0 ? left / stride + 1 : 1;
}

}  // namespace npuscope
