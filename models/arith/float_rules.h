// SPDX-License-Identifier: Apache-2.0
// Floating point as the units compute it: fp32 in the SDP, fp17 in PDP, CDP and the SDP's lookup.
// Where it differs from IEEE 754: results that do not fit are the largest finite number; there are
// no denormal results, below the smallest normal number all is zero; the sum of two opposite
// numbers is a zero with the sign of the first; of two NaNs the first is handed on, unchanged.
// Inputs have passed float16.h: no infinities and no denormals among them.
// source: NVDLA doc v1/ias/precision.rst; nv_full C model and RTL, compared by running
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "models/arith/float16.h"

namespace npuscope {

/// The numbers of one format as arithmetic sees them.
struct Fp32Rules {
    static constexpr int bias = Fp32Format::bias;
    static constexpr int exponents = 255;  ///< of normal numbers, 0 for zero
    static constexpr float largest = kLargestFp32;
    static constexpr float smallest = 0x1p-126F;
    /// A float is what the format holds.
    static float rounded(float value) { return value; }
};

struct Fp17Rules {
    static constexpr int bias = Fp17Format::bias;
    static constexpr int exponents = 63;
    static constexpr float largest = kLargestFp17;
    static constexpr float smallest = kSmallestFp17;
    /// To 11 significant bits, ties to even.
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

/// a + b. A sum of two floats rounded twice, to 24 and to 11 bits, is rounded as if once.
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

/// The sign of b is turned, also that of a NaN.
inline float negated(float value) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ Fp32Format::sign_bit);
}

template <class Rules>
float float_sub(float a, float b) {
    return float_add<Rules>(a, negated(b));
}

/// A product whose exponents alone lie below the format's is zero, whatever its mantissa.
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

/// Order of the bits as sign and magnitude: -0 is below +0.
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
