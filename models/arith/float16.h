// SPDX-License-Identifier: Apache-2.0
// The floating point formats of the data path and the conversions between them. fp16 (5 exponent
// bits, 10 stored mantissa bits) lives in memory; fp32 between the units; fp17 (6 and 10 bits,
// without denormals) inside PDP, CDP and the lookup of the SDP. fp17 values are stored as the float
// of the same value. Differences from IEEE 754: an infinity is read as the largest finite number, a
// result that does not fit is clamped to the largest finite number, and a NaN passes on the LOW
// bits of its payload (so a NaN without any of those bits becomes the pattern of an infinity).
// Rounding is to nearest, ties to even, except for fp16 to int16: half away from zero.
// source: NVDLA doc v1/ias/precision.rst and format.rst
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "models/layout/precision.h"  // first: its enumerator has the name of the type below

namespace npuscope {

using Fp16 = std::uint16_t;  ///< bit pattern of an fp16

/// One sign bit, then exponent, then mantissa; the bias is half the exponent's range minus one.
template <unsigned ExponentBits, unsigned MantissaBits>
struct FloatFormat {
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
/// Tests the bits: correct whatever the compiler assumes about floating point.
constexpr bool is_nan(float value) {
    return is_nan_bits<Fp32Format>(std::bit_cast<std::uint32_t>(value));
}

/// Largest finite values: overflow and infinities become these.
constexpr float kLargestFp16 = 65504.0F;
constexpr float kLargestFp17 = 4292870144.0F;
constexpr float kLargestFp32 = 0x1.fffffep127F;
constexpr float kSmallestFp17 = 0x1p-30F;  ///< smallest normal fp17; below it is zero

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

/// `value` without its `dropped` (>= 1) low bits, rounded to nearest, ties to even.
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

/// A NaN as fp17 stores it: the low ten bits of the payload.
constexpr float narrow_nan_to_fp17(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    return std::bit_cast<float>(
        bits & (Fp32Format::sign_bit | Fp32Format::exponent_mask | Fp17Format::mantissa_mask));
}

/// fp32 to fp17: 11 significant bits; magnitudes that round below 2^-30 become a zero of the same
/// sign, those above the range become +-4292870144.
constexpr float narrow_to_fp17(float value) {
    if (is_nan(value)) {
        return narrow_nan_to_fp17(value);
    }
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits & Fp32Format::sign_bit;
    const std::uint32_t magnitude = bits & ~Fp32Format::sign_bit;
    constexpr std::uint32_t kSmallest = std::bit_cast<std::uint32_t>(kSmallestFp17);
    // Below 2^-30 the grid is that of denormals, 2^-40: only its top step, 2^-30 itself, survives.
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

/// An integer of at most 17 bits (a convertor's output) to fp16, clamped to +-65504.
constexpr Fp16 fp16_from_int(std::int32_t value) { return narrow(static_cast<float>(value)); }

/// fp16 to int16: rounded half away from zero, saturated; a NaN is -32768.
constexpr std::int16_t int16_from_fp16(Fp16 value) {
    if (is_nan(value)) {
        return INT16_MIN;
    }
    const float wide = widen(value);
    const float magnitude = wide < 0.0F ? -wide : wide;
    if (magnitude >= 32768.0F) {
        return wide < 0.0F ? INT16_MIN : INT16_MAX;
    }
    // 11 significant bits, below 2^15: twice the magnitude plus one is exact
    const auto rounded = static_cast<std::int32_t>(magnitude * 2.0F + 1.0F) / 2;
    return static_cast<std::int16_t>(wide < 0.0F ? -rounded : rounded);
}

// Floating point as the units compute it: fp32 in the SDP, fp17 in PDP, CDP and the SDP's lookup.
// Where it differs from IEEE 754: results that do not fit are the largest finite number; there are
// no denormal results, everything below the smallest normal number is zero; the sum of two opposite
// numbers is a zero with the sign of the first; of two NaNs the first is passed on unchanged.
// Inputs were converted as above: there are no infinities or denormals among them.
// source: NVDLA doc v1/ias/precision.rst; nv_full C model and RTL, compared by running

/// One number format as the arithmetic sees it.
struct Fp32Rules {
    static constexpr int bias = Fp32Format::bias;
    static constexpr int exponents = 255;  ///< of normal numbers, 0 for zero
    static constexpr float largest = kLargestFp32;
    static constexpr float smallest = 0x1p-126F;
    /// A float already has the format's precision.
    static float rounded(float value) { return value; }
};

struct Fp17Rules {
    static constexpr int bias = Fp17Format::bias;
    static constexpr int exponents = 63;
    static constexpr float largest = kLargestFp17;
    static constexpr float smallest = kSmallestFp17;
    /// Rounds to 11 significant bits, ties to even.
    static float rounded(float value) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
        return std::bit_cast<float>((bits & Fp32Format::sign_bit) |
                                    (drop_bits_to_even(bits & ~Fp32Format::sign_bit, 13U) << 13U));
    }
};

inline bool is_negative(float value) {
    return (std::bit_cast<std::uint32_t>(value) & Fp32Format::sign_bit) != 0U;
}

inline float zero_signed(bool negative) { return negative ? -0.0F : 0.0F; }

/// The exponent field that `value` has in the format; 0 for a zero.
template <class Rules>
int exponent_field(float value) {
    const auto field =
        static_cast<int>((std::bit_cast<std::uint32_t>(value) & Fp32Format::exponent_mask) >> 23U);
    return field == 0 ? 0 : field - (Fp32Format::bias - Rules::bias);
}

template <class Rules>
float clamp_to_format(float value) {
    if (std::fabs(value) < Rules::smallest) {
        return zero_signed(is_negative(value));
    }
    return std::fabs(value) > Rules::largest ? std::copysign(Rules::largest, value) : value;
}

/// a + b. Rounding a sum of two floats twice, to 24 and to 11 bits, equals rounding it once.
template <class Rules>
float float_add(float a, float b) {
    if (is_nan(a)) {
        return a;
    }
    if (is_nan(b)) {
        return b;
    }
    const float sum = a + b;
    return sum == 0.0F ? zero_signed(is_negative(a)) : clamp_to_format<Rules>(Rules::rounded(sum));
}

/// Flips the sign, also that of a NaN.
inline float negated(float value) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ Fp32Format::sign_bit);
}

template <class Rules>
float float_sub(float a, float b) {
    return float_add<Rules>(a, negated(b));
}

/// A product whose exponents already put it below the range is zero, whatever its mantissa.
template <class Rules>
float float_mul(float a, float b) {
    if (is_nan(a)) {
        return a;
    }
    if (is_nan(b)) {
        return b;
    }
    const bool negative = is_negative(a) != is_negative(b);
    const int exponents = exponent_field<Rules>(a) + exponent_field<Rules>(b);
    if (a == 0.0F || b == 0.0F || exponents < Rules::bias) {
        return zero_signed(negative);
    }
    // at twice the range the product is exact and never denormal
    const double exact = static_cast<double>(a) * b;
    constexpr double kLift = 0x1p64;
    if (std::fabs(exact) < static_cast<double>(Rules::smallest) * 2) {
        const float lifted = Rules::rounded(static_cast<float>(exact * kLift));
        return std::fabs(lifted) < Rules::smallest * static_cast<float>(kLift)
                   ? zero_signed(negative)
                   : lifted * static_cast<float>(1.0 / kLift);
    }
    if (std::fabs(exact) > static_cast<double>(Rules::largest)) {
        return std::copysign(Rules::largest, negative ? -1.0F : 1.0F);
    }
    return clamp_to_format<Rules>(Rules::rounded(static_cast<float>(exact)));
}

/// Compares the bits as sign and magnitude: -0 is below +0.
inline bool is_greater(float a, float b) {
    const auto key = [](float value) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
        const auto magnitude = static_cast<std::int64_t>(bits & ~Fp32Format::sign_bit);
        return (bits & Fp32Format::sign_bit) != 0U ? -magnitude - 1 : magnitude;
    };
    return key(a) > key(b);
}

inline float float_max(float a, float b) {
    if (is_nan(a) || is_nan(b)) {
        return is_nan(a) ? a : b;
    }
    return is_greater(a, b) ? a : b;
}

inline float float_min(float a, float b) {
    if (is_nan(a) || is_nan(b)) {
        return is_nan(a) ? a : b;
    }
    return is_greater(a, b) ? b : a;
}

/// NaNs pass, whatever their sign.
inline float float_relu(float value) { return is_nan(value) || !is_negative(value) ? value : 0.0F; }

/// value / 2^fraction_bits as fp17; value <= 2^fraction_bits.
inline float fp17_from_fraction(std::uint64_t value, int fraction_bits) {
    constexpr int kKept = 11;
    const int width = static_cast<int>(std::bit_width(value));
    const int dropped = width > kKept ? width - kKept : 0;
    std::uint64_t kept = value >> static_cast<unsigned>(dropped);
    if (dropped > 0) {
        const std::uint64_t half = std::uint64_t{1} << static_cast<unsigned>(dropped - 1);
        const std::uint64_t rest = value & (2 * half - 1);
        kept += rest > half || (rest == half && (kept & 1U) != 0U) ? 1U : 0U;
    }
    const float rounded = std::ldexp(static_cast<float>(kept), dropped - fraction_bits);
    return rounded < kSmallestFp17 ? 0.0F : rounded;
}

}  // namespace npuscope
