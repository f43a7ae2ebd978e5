// SPDX-License-Identifier: Apache-2.0
// The floating point formats of the data path and the conversions between them. fp16 (5 exponent
// bits, 10 stored mantissa bits) lives in memory; fp32 between the units; fp17 (6 and 10 bits,
// without denormals) inside PDP, CDP and the lookup of the SDP. fp17 values are held as the float
// of the same value. What differs from IEEE 754: an infinity is read as the largest finite number,
// a result that does not fit is clamped to the largest finite number, and a NaN hands on the LOW
// bits of its payload (so a NaN without any of those bits becomes the pattern of an infinity).
// Rounding is to nearest, ties to even, save from fp16 to int16: half away from zero.
// source: NVDLA doc v1/ias/precision.rst and format.rst
#pragma once

#include <bit>
#include <cstdint>

#include "models/layout/precision.h"  // first: its enumerator has the name of the type below

namespace npuscope {

using Fp16 = std::uint16_t;  ///< bit pattern of an fp16

/// One sign bit, then exponent, then mantissa; the bias is half the exponent's range less one.
template <unsigned ExponentBits, unsigned MantissaBits>
struct FloatFormat {
    static constexpr unsigned exponent_bits = ExponentBits;
    static constexpr unsigned mantissa_bits = MantissaBits;
    static constexpr int bias = (1 << (ExponentBits - 1U)) - 1;
    static constexpr std::uint32_t mantissa_mask = (1U << MantissaBits) - 1U;
    static constexpr std::uint32_t exponent_mask = ((1U << ExponentBits) - 1U) << MantissaBits;
    static constexpr std::uint32_t sign_bit = 1U << (ExponentBits + MantissaBits);
    static constexpr std::uint32_t largest = exponent_mask - 1U;  ///< largest finite magnitude
};
using Fp16Format = FloatFormat<5, 10>;
using Fp17Format = FloatFormat<6, 10>;
using Fp32Format = FloatFormat<8, 23>;

template <class Format>
constexpr bool is_nan_bits(std::uint32_t bits) {
    return (bits & (Format::exponent_mask | Format::mantissa_mask)) > Format::exponent_mask;
}

template <class Format>
constexpr bool is_inf_bits(std::uint32_t bits) {
    return (bits & (Format::exponent_mask | Format::mantissa_mask)) == Format::exponent_mask;
}

constexpr bool is_nan(Fp16 value) { return is_nan_bits<Fp16Format>(value); }
constexpr bool is_inf(Fp16 value) { return is_inf_bits<Fp16Format>(value); }
/// By the bits: right whatever the compiler assumes about floating point.
constexpr bool is_nan(float value) {
    return is_nan_bits<Fp32Format>(std::bit_cast<std::uint32_t>(value));
}

/// Largest finite values: what overflow and infinities become.
constexpr float kLargestFp16 = 65504.0F;
constexpr float kLargestFp17 = 4292870144.0F;
constexpr float kLargestFp32 = 0x1.fffffep127F;
constexpr float kSmallestFp17 = 0x1p-30F;  ///< smallest normal fp17; below is zero

/// fp16 to fp32, exact (denormals too); an infinity becomes +-3.4028235e38.
constexpr float widen(Fp16 value) {
    const std::uint32_t sign = static_cast<std::uint32_t>(value & Fp16Format::sign_bit) << 16U;
    const std::uint32_t mantissa = value & Fp16Format::mantissa_mask;
    const std::uint32_t exponent = (value & Fp16Format::exponent_mask) >> 10U;
    if (exponent == 31U) {
        return std::bit_cast<float>(
            sign | (mantissa == 0U ? Fp32Format::largest : Fp32Format::exponent_mask | mantissa));
    }
    if (exponent == 0U) {
        const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
        return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
    }
    return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | (mantissa << 13U));
}

/// fp16 to fp17, exact; an infinity becomes +-4292870144.
constexpr float widen_to_fp17(Fp16 value) {
    if (is_inf(value)) {
        return (value & Fp16Format::sign_bit) != 0U ? -kLargestFp17 : kLargestFp17;
    }
    return widen(value);
}

/// The upper bits of `value` above `dropped` (>= 1) low ones, to nearest, ties to even.
constexpr std::uint32_t drop_bits_to_even(std::uint32_t value, unsigned dropped) {
    if (dropped > 31U) {
        return 0;
    }
    const std::uint32_t kept = value >> dropped;
    const std::uint32_t half = 1U << (dropped - 1U);
    const std::uint32_t rest = value & ((half << 1U) - 1U);
    return kept + static_cast<std::uint32_t>(rest > half || (rest == half && (kept & 1U) != 0U));
}

/// fp32 to fp16; what does not fit becomes +-65504.
constexpr Fp16 narrow(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (bits & Fp32Format::sign_bit) >> 16U;
    const std::uint32_t magnitude = bits & ~Fp32Format::sign_bit;
    if (magnitude > Fp32Format::exponent_mask) {
        return static_cast<Fp16>(sign | Fp16Format::exponent_mask |
                                 (magnitude & Fp16Format::mantissa_mask));
    }
    constexpr std::uint32_t kSmallestNormal = 113U << 23U;  // 2^-14
    if (magnitude < kSmallestNormal) {
        const std::uint32_t exponent = magnitude >> 23U;
        const std::uint32_t mantissa =
            (magnitude & Fp32Format::mantissa_mask) | (exponent == 0U ? 0U : 1U << 23U);
        return static_cast<Fp16>(sign | drop_bits_to_even(mantissa, 126U - exponent));
    }
    const std::uint32_t rounded = drop_bits_to_even(magnitude - (112U << 23U), 13U);
    return static_cast<Fp16>(sign |
                             (rounded > Fp16Format::largest ? Fp16Format::largest : rounded));
}

/// A NaN as fp17 keeps it: the low ten bits of the payload.
constexpr float narrow_nan_to_fp17(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>(
        bits & (Fp32Format::sign_bit | Fp32Format::exponent_mask | Fp17Format::mantissa_mask));
}

/// fp32 to fp17: 11 significant bits; magnitudes that round below 2^-30 become a zero of the same
/// sign, those above the range +-4292870144.
constexpr float narrow_to_fp17(float value) {
    if (is_nan(value)) {
        return narrow_nan_to_fp17(value);
    }
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits & Fp32Format::sign_bit;
    const std::uint32_t magnitude = bits & ~Fp32Format::sign_bit;
    constexpr std::uint32_t kSmallest = std::bit_cast<std::uint32_t>(kSmallestFp17);
    // Under 2^-30 the grid is that of denormals, 2^-40: only its top step, 2^-30 itself, survives.
    constexpr std::uint32_t kRoundsUp = std::bit_cast<std::uint32_t>(kSmallestFp17 - 0x1p-41F);
    if (magnitude < kSmallest) {
        return std::bit_cast<float>(sign | (magnitude >= kRoundsUp ? kSmallest : 0U));
    }
    constexpr std::uint32_t kLargest = std::bit_cast<std::uint32_t>(kLargestFp17);
    const std::uint32_t rounded = drop_bits_to_even(magnitude, 13U) << 13U;
    return std::bit_cast<float>(sign | (rounded > kLargest ? kLargest : rounded));
}

/// fp17 to fp16.
constexpr Fp16 narrow_from_fp17(float value) { return narrow(value); }

/// An integer of at most 17 bits (a convertor's output) to fp16; beyond the range +-65504.
constexpr Fp16 fp16_from_int(std::int32_t value) { return narrow(static_cast<float>(value)); }

/// fp16 to int16: half away from zero, saturated; a NaN is -32768.
constexpr std::int16_t int16_from_fp16(Fp16 value) {
    if (is_nan(value)) {
        return INT16_MIN;
    }
    const float wide = widen(value);
    const float magnitude = wide < 0.0F ? -wide : wide;
    if (magnitude >= 32768.0F) {
        return wide < 0.0F ? INT16_MIN : INT16_MAX;
    }
    // 11 significant bits, below 2^15: twice the magnitude and one are exact
    const auto rounded = static_cast<std::int32_t>(magnitude * 2.0F + 1.0F) / 2;
    return static_cast<std::int16_t>(wide < 0.0F ? -rounded : rounded);
}

}  // namespace npuscope
