// SPDX-License-Identifier: Apache-2.0
// The units' floating point against exact values in long double, rounded once.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "models/arith/float16.h"

namespace npuscope {
namespace {

float from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint32_t to_bits(float value) { return std::bit_cast<std::uint32_t>(value); }

/// An exact value as a format of `significant` bits keeps it; `least` = log2 of its smallest
/// number.
long double kept(long double exact, int significant, int least, long double largest) {
    if (exact == 0.0L) {
        return exact;
    }
    const int grid = std::ilogb(exact) - significant + 1;
    const long double rounded = std::ldexp(std::nearbyint(std::ldexp(exact, -grid)), grid);
    if (std::fabs(rounded) < std::ldexp(1.0L, least)) {
        return std::copysign(0.0L, exact);
    }
    return std::fabs(rounded) > largest ? std::copysign(largest, exact) : rounded;
}
long double kept_fp32(long double exact) { return kept(exact, 24, -126, kLargestFp32); }
long double kept_fp17(long double exact) { return kept(exact, 11, -30, kLargestFp17); }

TEST(FloatRules, SumsAreRoundedOnceAndClamped) {
    std::mt19937 random(3);
    for (int i = 0; i < 300000; ++i) {
        const float a = widen(static_cast<Fp16>(random()));
        const float b = widen(static_cast<Fp16>(random()));
        if (is_nan(a) || is_nan(b) || std::fabs(a) > 65504.0F || std::fabs(b) > 65504.0F) {
            continue;
        }
        const long double exact = static_cast<long double>(a) + b;
        ASSERT_EQ(float_add<Fp32Rules>(a, b), kept_fp32(exact)) << a << ' ' << b;
        ASSERT_EQ(float_add<Fp17Rules>(a, b), kept_fp17(exact)) << a << ' ' << b;
        ASSERT_EQ(float_sub<Fp17Rules>(a, b), kept_fp17(static_cast<long double>(a) - b));
    }
    EXPECT_EQ(float_add<Fp32Rules>(kLargestFp32, kLargestFp32), kLargestFp32);
    EXPECT_EQ(float_add<Fp17Rules>(-kLargestFp17, -1e9F), -kLargestFp17);
    EXPECT_EQ(float_add<Fp17Rules>(kSmallestFp17, -1.5F * kSmallestFp17), 0.0F);
}

TEST(FloatRules, ProductsAreRoundedOnceAndClamped) {
    std::mt19937 random(4);
    std::uniform_real_distribution<float> mantissa(1.0F, 2.0F);
    for (int i = 0; i < 300000; ++i) {
        const int range = static_cast<int>(random() % 60) - 30;
        const float a = std::ldexp(mantissa(random), range);
        const float b = -std::ldexp(mantissa(random), static_cast<int>(random() % 60) - 30);
        ASSERT_EQ(float_mul<Fp32Rules>(a, b), kept_fp32(static_cast<long double>(a) * b));
        const float x = narrow_to_fp17(a);
        const float y = narrow_to_fp17(b);
        if (std::ilogb(x) + std::ilogb(y) >= -30) {
            ASSERT_EQ(float_mul<Fp17Rules>(x, y), kept_fp17(static_cast<long double>(x) * y))
                << x << ' ' << y;
        }
    }
    EXPECT_EQ(float_mul<Fp32Rules>(1e30F, 1e30F), kLargestFp32);
    EXPECT_EQ(float_mul<Fp32Rules>(0x1p-100F, -0x1p-26F), -0x1p-126F);
    EXPECT_EQ(to_bits(float_mul<Fp32Rules>(0x1p-100F, -0x1p-27F)), 0x80000000U);
}

TEST(FloatRules, ProductsAtTheSmallestNumberRoundBeforeTheyVanish) {
    const float almost_two = from_bits(0x3fffffffU);
    EXPECT_EQ(float_mul<Fp32Rules>(std::ldexp(almost_two, -64), std::ldexp(almost_two, -64)), 0.0F);
    EXPECT_EQ(float_mul<Fp32Rules>(std::ldexp(almost_two, -63), 0x1p-64F), 0.0F);
    EXPECT_EQ(float_mul<Fp32Rules>(std::ldexp(almost_two, -63), 0x1p-63F),
              std::ldexp(almost_two, -126));
    // (2 - 2^-12) * (1 + 2^-13) = 2 - 2^-25 rounds to 2
    const float a = 2.0F - 0x1p-12F;
    const float b = 1.0F + 0x1p-13F;
    EXPECT_EQ(float_mul<Fp32Rules>(std::ldexp(a, -63), std::ldexp(b, -64)), 0x1p-126F);
}

TEST(FloatRules, ZerosKeepTheSignsOfTheHardware) {
    EXPECT_EQ(to_bits(float_add<Fp32Rules>(-3.0F, 3.0F)), 0x80000000U);
    EXPECT_EQ(to_bits(float_add<Fp32Rules>(3.0F, -3.0F)), 0U);
    EXPECT_EQ(to_bits(float_add<Fp32Rules>(-0.0F, 0.0F)), 0x80000000U);
    EXPECT_EQ(to_bits(float_mul<Fp17Rules>(-0.0F, 5.0F)), 0x80000000U);
    EXPECT_EQ(to_bits(float_mul<Fp17Rules>(-0.0F, -5.0F)), 0U);
    EXPECT_EQ(to_bits(float_max(-0.0F, 0.0F)), 0U);
    EXPECT_EQ(to_bits(float_max(0.0F, -0.0F)), 0U);
    EXPECT_EQ(to_bits(float_min(0.0F, -0.0F)), 0x80000000U);
    EXPECT_EQ(to_bits(float_relu(-0.0F)), 0U);
}

TEST(FloatRules, TheFirstNanIsHandedOnUnchanged) {
    const float a = from_bits(0x7f800005U);
    const float b = from_bits(0xff800007U);
    for (const auto operation : {float_add<Fp32Rules>, float_mul<Fp32Rules>, float_add<Fp17Rules>,
                                 float_mul<Fp17Rules>, float_max, float_min}) {
        EXPECT_EQ(to_bits(operation(a, b)), 0x7f800005U);
        EXPECT_EQ(to_bits(operation(1.0F, b)), 0xff800007U);
        EXPECT_EQ(to_bits(operation(b, 0.0F)), 0xff800007U);
    }
    EXPECT_EQ(to_bits(float_sub<Fp32Rules>(1.0F, a)), 0xff800005U);
    EXPECT_EQ(to_bits(float_relu(b)), 0xff800007U);
}

TEST(FloatRules, OrderIsThatOfTheValues) {
    std::mt19937 random(5);
    for (int i = 0; i < 100000; ++i) {
        const float a = widen(static_cast<Fp16>(random()));
        const float b = widen(static_cast<Fp16>(random()));
        if (!is_nan(a) && !is_nan(b)) {
            ASSERT_EQ(float_max(a, b), std::max(a, b));
            ASSERT_EQ(float_min(a, b), std::min(a, b));
        }
    }
}

TEST(FloatRules, FractionsKeepElevenBits) {
    for (std::uint64_t value = 0; value < 65536; ++value) {
        ASSERT_EQ(fp17_from_fraction(value, 16),
                  kept_fp17(static_cast<long double>(value) / 65536));
    }
    const std::uint64_t one = std::uint64_t{1} << 35U;
    EXPECT_EQ(fp17_from_fraction(one, 35), 1.0F);
    EXPECT_EQ(fp17_from_fraction(one - 1, 35), 1.0F);
    EXPECT_EQ(fp17_from_fraction(one - (one >> 11U), 35), 1.0F - 0x1p-11F);
    EXPECT_EQ(fp17_from_fraction(16, 35), 0.0F);  // 2^-31
    EXPECT_EQ(fp17_from_fraction(32, 35), 0x1p-30F);
}

}  // namespace
}  // namespace npuscope
