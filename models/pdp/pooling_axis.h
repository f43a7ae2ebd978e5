// SPDX-License-Identifier: Apache-2.0
// Which windows see which positions, along one axis of a cube that is pooled.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/base/check.h"
#include "models/base/quantity.h"
#include "models/pdp/pdp_math.h"

namespace npuscope {

/// `extent` input positions, of which output position `i` sees [i * stride - pad, + kernel).
struct PoolingAxis {
    std::uint32_t extent = 0;
    std::uint32_t outputs = 0;
    std::uint32_t kernel = 1;
    std::uint32_t stride = 1;
    std::uint32_t pad = 0;

    /// Input position of tap `k` of output `i`; outside [0, extent) it is padding.
    std::int64_t position(std::uint32_t i, std::uint32_t k) const {
        return static_cast<std::int64_t>(i) * stride + k - pad;
    }
    /// Outputs [first, last) whose tap `k` is real.
    std::uint32_t first(std::uint32_t k) const {
        return k >= pad ? 0U : static_cast<std::uint32_t>(divide_up(pad - k, stride));
    }
    std::uint32_t last(std::uint32_t k) const {
        const std::uint32_t beyond = extent + pad;
        return k >= beyond
                   ? 0U
                   : std::min<std::uint32_t>(
                         outputs, static_cast<std::uint32_t>(divide_up(beyond - k, stride)));
    }
    std::uint32_t missing(std::uint32_t i) const {
        std::uint32_t real = 0;
        for (std::uint32_t k = 0; k < kernel; ++k) {
            real += i >= first(k) && i < last(k) ? 1U : 0U;
        }
        NPU_CHECK(real > 0, "a pooling window lies entirely in the padding");
        return kernel - real;
    }
};

inline PoolingAxis rows_axis(const PdpPooling& pooling, std::uint32_t height) {
    return {height, pooling.output.height, pooling.kernel_height, pooling.stride_y,
            pooling.pad_top};
}

inline PoolingAxis columns_axis(const PdpPooling& pooling, const PdpPart& part) {
    return {part.in_width, part.out_width, pooling.kernel_width, pooling.stride_x, part.pad_left};
}

}  // namespace npuscope
