// SPDX-License-Identifier: Apache-2.0
// The fp16 arithmetic of a MAC cell and of the accumulator after it, value by value.
//
// A number is an 11-bit mantissa, shifted left by the two lower bits of its exponent, times
// 16^(upper three bits). A cell multiplies up to 64 pairs and shifts every product right by whole
// hexadecimal digits to the largest one. It shifts the two vectors that its carry-save adders
// produce rather than their sum, so bits shifted out can cost one unit. Sum = mantissa *
// 2^(exponent - 50). The accumulator keeps a 40-bit mantissa in two's complement and an exponent
// with bias 63, and rounds half away from zero after each addition. Exponent 31 with a zero
// mantissa is a number like any other: infinity is 65536. Zeros, of either sign, are left out. A
// NaN stays a NaN.
// source: nv_full, NV_NVDLA_CMAC_CORE_MAC_{exp,mul,nan}.v, NV_NVDLA_CACC_CALC_fp_48b.v, C model
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/arith/float16.h"

namespace npuscope {

/// A number as a multiplier receives it.
struct Fp16Operand {
    std::uint32_t mantissa = 0;  ///< 14 bits
    std::int32_t exponent = 0;   ///< upper bits of the exponent, 0 to 7
    bool negative = false;

    constexpr bool zero() const { return mantissa == 0; }
};

constexpr Fp16Operand fp16_operand(Fp16 value) {
    const std::uint32_t exponent = (value >> 10U) & 31U;
    const std::uint32_t hidden = exponent == 0 ? 0U : 1U << 10U;
    const std::uint32_t shift = exponent == 0 ? 1U : exponent & 3U;
    return {((value & Fp16Format::mantissa_mask) | hidden) << shift,
            static_cast<std::int32_t>(exponent >> 2U), (value & Fp16Format::sign_bit) != 0};
}

/// Radix-4 Booth digits of a 14-bit multiplier, each -2 to 2, lowest first.
constexpr std::array<std::int8_t, 8> booth_digits(std::uint32_t multiplicator) {
    constexpr std::array<std::int8_t, 8> kDigitOfBits{0, 1, 1, 2, -2, -1, -1, 0};
    std::array<std::int8_t, 8> digits{};
    for (unsigned i = 0; i < digits.size(); ++i) {
        digits[i] = kDigitOfBits[(multiplicator << 1U) >> (2U * i) & 7U];
    }
    return digits;
}

/// Signed product of two mantissas, shifted right by `shift` bits, a multiple of four, as the
/// adders produce it. A shift of 32 or more gives 0.
std::int32_t fp16_product(const Fp16Operand& data, const Fp16Operand& weight, unsigned shift);

/// What a MAC cell outputs: mantissa * 2^(exponent - 50), or a NaN with sign and payload.
struct Fp16BlockSum {
    std::int64_t mantissa = 0;
    std::int32_t exponent = 0;
    bool nan = false;
    Fp16 payload = 0;  ///< bits of the NaN
};

/// The products of one block, summed; `data` and `weights` have the same length, at most 64.
Fp16BlockSum fp16_block_sum(std::span<const Fp16> data, std::span<const Fp16> weights);

/// A partial sum: mantissa * 2^(exponent - 101).
class Fp16Accumulator {
 public:
    void add(const Fp16BlockSum& sum);
    /// Bits of the fp32 that goes to the SDP: ties are rounded away from zero.
    std::uint32_t fp32_bits() const;

 private:
    void add_number(std::int64_t mantissa, std::int32_t exponent);
    void store(std::int64_t sum, std::int32_t exponent, bool round);

    std::int64_t mantissa_ = 0;  // 40 bits, two's complement
    std::int32_t exponent_ = 0;
    bool nan_ = false;
    Fp16 payload_ = 0;
};

// The core of the fp16 convolutions: columns of elements, one per output position, are multiplied
// with kernels block by block. Which elements a column holds, and how a block's partial sums become
// the terms of an accumulator, is up to the caller: direct convolution and Winograd share it.

/// Positions that are computed in parallel.
inline constexpr std::size_t fp16_lanes = 16;

/// A number in 32 bits: mantissa 13:0, NaN 14, sign 15, exponent 31:16 (signed). A zero has an
/// exponent so low that its products drop out of every sum.
constexpr std::uint32_t pack_fp16(Fp16 value) {
    constexpr std::int32_t kNever = -64;
    const Fp16Operand number = fp16_operand(value);
    const std::int32_t exponent = number.zero() ? kNever : number.exponent;
    return static_cast<std::uint32_t>(exponent) << 16U | (number.negative ? 1U << 15U : 0U) |
           (is_nan(value) ? 1U << 14U : 0U) | number.mantissa;
}

/// A job for the vectorised core: `positions` columns of elements, each with every kernel.
struct Fp16Columns {
    std::size_t positions = 0;
    /// Writes fp16_lanes columns from position `first` on: element i of lane j to [i * fp16_lanes +
    /// j], packed. Columns after the last may hold any finite number.
    std::function<void(std::size_t first, std::uint32_t* to)> gather;
    std::vector<std::size_t> block_ends;  ///< among the elements, in the order of the accumulator
    /// Which of a block's partial sums an element adds to; empty: there is only one.
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
