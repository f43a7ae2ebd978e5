// SPDX-License-Identifier: Apache-2.0
// The kernels of a Winograd convolution before they are laid out: channels of strided kernels are
// extended until the kernel is 3x3, then every channel becomes U = G w G^T, 4x4.
//
//     G = |  1    0    0  |      c' = (sy * stride_x + sx) * channels + c takes the weight
//         | 1/2  1/2  1/2 |           (r * stride_y + sy, s * stride_x + sx), 0 where there is none
//         | 1/2 -1/2  1/2 |
//         |  0    0    1  |
//
// Values are doubles: storing them as integers, fractions are cut. source: NVDLA format page,
// "Weight for Winograd Convolution"; order of steps: NVDLA compiler, run
#pragma once

#include <cstdint>

#include "models/layout/tensor.h"

namespace npuscope {

struct WinogradExtension {
    std::uint32_t stride_y = 1;
    std::uint32_t stride_x = 1;
    std::uint32_t channels = 0;  ///< of the source with zeros appended: 32 bytes of elements
};

/// K x C x R x S to K x (stride_y * stride_x * channels) x 3 x 3.
Kernels<double> extend_for_winograd(const Kernels<double>& kernels,
                                    const WinogradExtension& extension);
/// K x C x 3 x 3 to K x C x 4 x 4.
Kernels<double> to_winograd(const Kernels<double>& kernels);
/// The reverse, exact where to_winograd() lost no fraction.
Kernels<double> from_winograd(const Kernels<double>& transformed);

}  // namespace npuscope
