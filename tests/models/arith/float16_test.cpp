// SPDX-License-Identifier: Apache-2.0
// Every fp16 through every conversion, against the rule computed in double precision.
#include "models/arith/float16.h"

#include <gtest/gtest.h>

#include <cmath>

namespace npuscope {
namespace {

constexpr std::uint32_t kPatterns = 1U << 16U;

/// The value of an fp16 by the definition of the format; infinities count as 2^16.
double value_of(Fp16 bits) {
    const int exponent = (bits >> 10U) & 31U;
    const int mantissa = bits & 1023U;
    const double magnitude =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    return (bits & 0x8000U) != 0U ? -magnitude : magnitude;
}

/// `value` rounded to `significant` bits, ties to even, with a grid never finer than 2^least.
double round_to_even(double value, int significant, int least) {
    if (value == 0.0) {
        return value;
    }
    const int grid = std::max(std::ilogb(value) - significant + 1, least);
    return std::ldexp(std::nearbyint(std::ldexp(value, -grid)), grid);
}

double clamp(double value, double limit) { return std::min(limit, std::max(-limit, value)); }

double fp16_rule(double value) { return clamp(round_to_even(value, 11, -24), kLargestFp16); }

double fp17_rule(double value) {
    const double rounded = clamp(round_to_even(value, 11, -40), kLargestFp17);
    return std::fabs(rounded) < 0x1p-30 ? std::copysign(0.0, value) : rounded;
}

float next_to(float value, int steps) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) +
                                static_cast<std::uint32_t>(steps));
}

TEST(Float16, WideningIsExactAndReadsInfinityAsTheLargestNumber) {
    for (std::uint32_t pattern = 0; pattern < kPatterns; ++pattern) {
        const auto bits = static_cast<Fp16>(pattern);
        if (is_nan(bits)) {
            const std::uint32_t payload = pattern & 1023U;
            const std::uint32_t sign = (pattern & 0x8000U) << 16U;
            ASSERT_EQ(std::bit_cast<std::uint32_t>(widen(bits)), sign | 0x7f800000U | payload);
            ASSERT_TRUE(is_nan(widen(bits)));
            ASSERT_TRUE(is_nan(widen_to_fp17(bits)));
            continue;
        }
        const double sign = (pattern & 0x8000U) != 0U ? -1.0 : 1.0;
        ASSERT_EQ(widen(bits), is_inf(bits) ? sign * kLargestFp32 : value_of(bits)) << pattern;
        ASSERT_EQ(widen_to_fp17(bits), is_inf(bits) ? sign * kLargestFp17 : value_of(bits));
        ASSERT_EQ(std::signbit(widen(bits)), sign < 0.0);
    }
}

TEST(Float16, NarrowingUndoesWidening) {
    for (std::uint32_t pattern = 0; pattern < kPatterns; ++pattern) {
        const auto bits = static_cast<Fp16>(pattern);
        const auto expected = is_inf(bits) ? static_cast<Fp16>(bits - 1U) : bits;
        ASSERT_EQ(narrow(widen(bits)), expected) << pattern;
        ASSERT_EQ(narrow_from_fp17(widen_to_fp17(bits)), expected) << pattern;
    }
}

TEST(Float16, NarrowingRoundsToEvenAroundEveryNumberAndEveryMidpoint) {
    for (std::uint32_t pattern = 0; pattern < kPatterns; ++pattern) {
        const auto bits = static_cast<Fp16>(pattern);
        if (is_nan(bits) || is_inf(bits)) {
            continue;
        }
        const double here = value_of(bits);
        const double there = value_of(static_cast<Fp16>(bits + 1U));  // 2^16 after the largest
        for (const double point : {here, (here + there) / 2}) {
            for (int steps = point == 0.0 ? 0 : -2; steps <= 2; ++steps) {
                const float probe = next_to(static_cast<float>(point), steps);
                const Fp16 narrowed = narrow(probe);
                ASSERT_EQ(value_of(narrowed), fp16_rule(probe)) << pattern << ' ' << probe;
                ASSERT_EQ((narrowed & 0x8000U) != 0U, std::signbit(probe));
            }
        }
    }
}

TEST(Float16, NarrowingClampsAndKeepsTheLowBitsOfANan) {
    EXPECT_EQ(narrow(1e30F), 0x7bff);
    EXPECT_EQ(narrow(-1e30F), 0xfbff);
    EXPECT_EQ(narrow(std::bit_cast<float>(0x7f800000U)), 0x7bff);
    EXPECT_EQ(narrow(65519.996F), 0x7bff);
    EXPECT_EQ(narrow(std::bit_cast<float>(0xff800201U)), 0xfe01);
    EXPECT_EQ(narrow(std::bit_cast<float>(0x7fc00000U)), 0x7c00);
    EXPECT_EQ(narrow(0x1p-149F), 0);
    EXPECT_EQ(narrow(-0x1p-149F), 0x8000);
}

TEST(Float16, Fp17KeepsElevenBitsAndHasNoDenormals) {
    for (std::uint32_t pattern = 0; pattern < kPatterns; ++pattern) {
        const auto bits = static_cast<Fp16>(pattern);
        if (is_nan(bits) || is_inf(bits)) {
            continue;
        }
        const double next = value_of(static_cast<Fp16>(bits + 1U));
        for (int scale = -24; scale <= 24; scale += 4) {
            for (const double point : {value_of(bits), (value_of(bits) + next) / 2}) {
                const double scaled = std::ldexp(point, scale);
                for (int steps = scaled == 0.0 ? 0 : -1; steps <= 1; ++steps) {
                    const float probe = next_to(static_cast<float>(scaled), steps);
                    const float narrowed = narrow_to_fp17(probe);
                    ASSERT_EQ(narrowed, fp17_rule(probe)) << probe;
                    ASSERT_EQ(std::signbit(narrowed), std::signbit(probe));
                }
            }
        }
    }
    EXPECT_EQ(narrow_to_fp17(kLargestFp32), kLargestFp17);
    EXPECT_EQ(std::bit_cast<std::uint32_t>(narrow_to_fp17(std::bit_cast<float>(0xffc00203U))),
              0xff800203U);
}

TEST(Float16, EveryIntegerOfSeventeenBitsRoundsToEven) {
    for (std::int32_t value = -65536; value <= 65535; ++value) {
        ASSERT_EQ(value_of(fp16_from_int(value)), fp16_rule(value)) << value;
    }
}

TEST(Float16, EveryNumberBecomesTheNearestInt16HalfAwayFromZero) {
    for (std::uint32_t pattern = 0; pattern < kPatterns; ++pattern) {
        const auto bits = static_cast<Fp16>(pattern);
        const double expected =
            is_nan(bits) ? -32768.0
                         : std::min(32767.0, std::max(-32768.0, std::round(value_of(bits))));
        ASSERT_EQ(int16_from_fp16(bits), expected) << pattern;
    }
}

}  // namespace
}  // namespace npuscope
