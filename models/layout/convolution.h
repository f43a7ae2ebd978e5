// SPDX-License-Identifier: Apache-2.0
// The geometry of a convolution: which input element meets which tap. Output (y, x) and tap (r, s)
// meet at input row y * stride_y + r * dilation_y - pad_top, column likewise; what lies outside the
// input has the padding's value. Right and bottom padding follow from the output's size.
#pragma once

#include <cstdint>

namespace npuscope {

struct Convolution {
    std::uint32_t out_height = 1;
    std::uint32_t out_width = 1;
    std::uint32_t stride_y = 1;
    std::uint32_t stride_x = 1;
    std::uint32_t dilation_y = 1;  ///< 1: taps are neighbours
    std::uint32_t dilation_x = 1;
    std::uint32_t pad_top = 0;
    std::uint32_t pad_left = 0;
    std::int32_t pad_value = 0;

    bool operator==(const Convolution&) const = default;
};

/// Rows (or columns) of input that `out` outputs reach over, padding included.
constexpr std::uint32_t reach(std::uint32_t out, std::uint32_t stride, std::uint32_t span) {
    return (out - 1) * stride + span;
}
/// Rows (or columns) that a kernel spans.
constexpr std::uint32_t dilated_span(std::uint32_t taps, std::uint32_t dilation) {
    return (taps - 1) * dilation + 1;
}

}  // namespace npuscope
