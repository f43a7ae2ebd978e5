// SPDX-License-Identifier: Apache-2.0
// The core of the fp16 convolutions: columns of elements, one per output position, meet kernels
// block by block. Which elements a column holds, and how a block's partial sums become the terms of
// an accumulator, is the caller's affair: direct convolution and Winograd share it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/arith/fp16_mac.h"

namespace npuscope {

/// Positions that are computed side by side.
inline constexpr std::size_t fp16_lanes = 16;

/// A number in 32 bits: mantissa 13:0, NaN 14, sign 15, exponent 31:16 (signed). A zero has an
/// exponent so low that its products fall out of every sum.
constexpr std::uint32_t pack_fp16(Fp16 value) {
    constexpr std::int32_t kNever = -64;
    const Fp16Operand number = fp16_operand(value);
    const std::int32_t exponent = number.zero() ? kNever : number.exponent;
    return static_cast<std::uint32_t>(exponent) << 16U | (number.negative ? 1U << 15U : 0U) |
           (is_nan(value) ? 1U << 14U : 0U) | number.mantissa;
}

/// A job for the vectorised core: `positions` columns of elements meet every kernel.
struct Fp16Columns {
    std::size_t positions = 0;
    /// Writes fp16_lanes columns from position `first` on: element i of lane j to [i * fp16_lanes +
    /// j], packed. Columns behind the last may hold any finite number.
    std::function<void(std::size_t first, std::uint32_t* to)> gather;
    std::vector<std::size_t> block_ends;  ///< of the elements, in the order of the accumulator
    /// Which of a block's partial sums an element adds to; empty: there is but one.
    std::vector<std::uint8_t> slots;
    std::uint32_t kernels = 0;
    std::vector<Fp16> weights;  ///< [kernel][element]
};

/// The partial sums of one block, per lane.
struct Fp16LaneSums {
    static constexpr std::size_t max_slots = 16;
    std::int32_t exponent[fp16_lanes];
    std::int64_t mantissa[max_slots][fp16_lanes];
};

/// Outputs of a tile: `results` per lane of every position, in the order of combine_slots.
struct Fp16Outputs {
    /// Turns the slots of one block into sums for `results` accumulators.
    std::uint32_t results = 1;
    std::function<void(const std::int64_t* slots, std::int64_t* sums)> combine;
    /// Bits of result `result` at `position` for `kernel`.
    std::function<void(std::uint32_t kernel, std::size_t position, std::uint32_t result,
                       std::uint32_t bits)>
        store;
};

void convolve_fp16_columns(const Fp16Columns& columns, const Fp16Outputs& outputs);

}  // namespace npuscope
