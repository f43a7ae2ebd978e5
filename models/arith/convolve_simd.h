// SPDX-License-Identifier: Apache-2.0
// The two inner loops of the fast convolution, compiled for several instruction sets; the best one
// for the machine is picked when they are first called (Highway's dynamic dispatch).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "models/arith/convolve_layout.h"
#include "models/arith/fp16_mac.h"
#include "models/layout/tensor.h"

namespace npuscope {

/// All outputs from operands in raster form.
void convolve_raster(const RasterPlan& plan, const std::vector<std::int16_t>& pairs,
                     const std::vector<std::int16_t>& weights, Tensor<std::int32_t>& sums);

/// All outputs from operands in column form.
void convolve_columns(const Columns& columns, const Kernels<std::int8_t>& kernels,
                      Tensor<std::int32_t>& sums);
void convolve_columns(const Columns& columns, const Kernels<std::int16_t>& kernels,
                      Tensor<std::int32_t>& sums);

// The inner loop of the fp16 convolution, compiled for several instruction sets: the products of
// one block and one kernel with fp16_lanes columns at once.

/// A weight that is not zero, ready for the multipliers.
struct Fp16Weight {
    std::uint32_t element = 0;  ///< column element that it meets
    std::uint32_t slot = 0;     ///< partial sum that it adds to
    std::uint32_t mantissa = 0;
    std::int32_t exponent = 0;
    std::uint32_t sign = 0;  ///< all ones when negative
    /// Booth digits 0, 1, 2, -1, -2 as 0 to 4.
    std::array<std::uint8_t, 8> digits{};
};

/// `slots` partial sums of the products of a block.
void multiply_fp16_block(std::span<const Fp16Weight> weights, const std::uint32_t* columns,
                         std::size_t slots, Fp16LaneSums& sums);

}  // namespace npuscope
