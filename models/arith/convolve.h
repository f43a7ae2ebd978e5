// SPDX-License-Identifier: Apache-2.0
// Exact integer convolution: data [c][y][x] and kernels [k][c][r][s] give sums [k][y][x].
// A plain oracle, and fast kernels that agree with it in every bit. No rounding, no saturation:
// these are the sums that an accumulator of unlimited width would hold. The one exception is
// convolve_saturating, which follows an accumulator of limited width block by block.
#pragma once

#include <cstdint>

#include "models/arith/convolve_fp16.h"
#include "models/layout/convolution.h"
#include "models/layout/tensor.h"

namespace npuscope {

/// The oracle: four nested sums, any element type.
template <class T>
Tensor<std::int64_t> convolve_plain(const Tensor<T>& data, const Kernels<T>& kernels,
                                    const Convolution& convolution);

/// True when every sum of int8 products fits into 32 bits, whatever the values.
constexpr bool sums_fit_32_bits(const KernelShape& shape) {
    // 2^14 = largest int8 product, so fewer than 2^17 of them
    return std::uint64_t{shape.channels} * shape.rows * shape.columns < (std::uint64_t{1} << 17U);
}

/// Fast, for shapes where sums_fit_32_bits(kernels.shape); vectorised for the machine it runs on.
Tensor<std::int32_t> convolve(const Tensor<std::int8_t>& data, const Kernels<std::int8_t>& kernels,
                              const Convolution& convolution);

/// The same for any number of products.
Tensor<std::int64_t> convolve_wide(const Tensor<std::int8_t>& data,
                                   const Kernels<std::int8_t>& kernels,
                                   const Convolution& convolution);

/// int16, any number of products.
Tensor<std::int64_t> convolve_wide(const Tensor<std::int16_t>& data,
                                   const Kernels<std::int16_t>& kernels,
                                   const Convolution& convolution);

/// Largest magnitude that any partial sum of any kernel can reach on any data of type T.
template <class T>
std::int64_t partial_sum_bound(const Kernels<T>& kernels);

/// How an accumulator takes its products: the blocks of `order` are summed exactly, then added one
/// after the other to a sum that saturates at `bits` bits.
struct Accumulator {
    MacOrder order;
    unsigned bits = 34;
};

/// T: std::int8_t or std::int16_t.
template <class T>
Tensor<std::int64_t> convolve_saturating(const Tensor<T>& data, const Kernels<T>& kernels,
                                         const Convolution& convolution,
                                         const Accumulator& accumulator);

}  // namespace npuscope
