// SPDX-License-Identifier: Apache-2.0
// fp16 convolution, exact to the bit of the hardware: sums of blocks as the MAC cells make them,
// added one after the other as the accumulator rounds them (see fp16_mac.h). Data and kernels hold
// bit patterns, so does the padding's value; results are bit patterns of fp32, [kernel][y][x].
#pragma once

#include <cstdint>

#include "models/arith/mac_order.h"
#include "models/layout/convolution.h"
#include "models/layout/tensor.h"

namespace npuscope {

/// The oracle: one output after the other.
Tensor<std::int32_t> convolve_fp16_plain(const Tensor<std::int16_t>& data,
                                         const Kernels<std::int16_t>& kernels,
                                         const Convolution& geometry, const MacOrder& order);

/// The same, vectorised over output positions.
Tensor<std::int32_t> convolve_fp16(const Tensor<std::int16_t>& data,
                                   const Kernels<std::int16_t>& kernels,
                                   const Convolution& geometry, const MacOrder& order);

}  // namespace npuscope
