// SPDX-License-Identifier: Apache-2.0
// The inner loop of the fp16 convolution, compiled for several instruction sets: the products of
// one block and one kernel with fp16_lanes columns at once.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "models/arith/fp16_columns.h"

namespace npuscope {

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
