// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "models/arith/fixed_point.h"

namespace npuscope {
namespace {

TEST(Round, EveryInt16AndShiftAgreesWithRoundHalfAwayFromZero) {
    for (std::int64_t value = -32768; value <= 32767; ++value) {
        for (unsigned shift = 0; shift < 18; ++shift) {
            const double exact = std::ldexp(static_cast<double>(value), -static_cast<int>(shift));
            ASSERT_EQ(shift_right_round(value, shift), std::llround(exact))
                << value << " >> " << shift;
        }
    }
}

TEST(Round, ShiftingByTheWholeWidthGivesZero) {
    EXPECT_EQ(shift_right_round<std::int64_t>(-(std::int64_t{1} << 33), 34, 34), 0);
    EXPECT_EQ(shift_right_round<std::int64_t>(-(std::int64_t{1} << 33), 33, 34), -1);
    EXPECT_EQ(shift_right_saturate<std::int64_t>(-(std::int64_t{1} << 48), 49, {49, 17}),
              (Narrowed<std::int64_t>{0, false}));
}

TEST(Round, WideValuesRoundLikeNarrowOnes) {
    std::mt19937_64 random(7);
    for (int i = 0; i < 100000; ++i) {
        const auto value = static_cast<std::int64_t>(random()) >> (i % 60);
        const auto shift = static_cast<unsigned>(random() % 64);
        const auto wide = shift_right_round(static_cast<Int128>(value), shift, 128);
        ASSERT_EQ(static_cast<std::int64_t>(wide), shift_right_round(value, shift));
    }
}

TEST(Round, SaturationIsFlaggedWhenAPositiveValueRoundsPastTheLimit) {
    EXPECT_EQ(shift_right_saturate<std::int64_t>(255, 1, {16, 8}),
              (Narrowed<std::int64_t>{127, true}));
    EXPECT_EQ(shift_right_saturate<std::int64_t>(253, 1, {16, 8}),
              (Narrowed<std::int64_t>{127, false}));
}

TEST(Round, SaturationIsFlaggedWhenTheFloorOfANegativeValueIsPastTheLimit) {
    // floor(-257 / 4) = -65, rounded -64: the value fits 7 bits, the hardware still counts it.
    EXPECT_EQ(shift_right_saturate<std::int64_t>(-257, 2, {16, 7}),
              (Narrowed<std::int64_t>{-64, true}));
    EXPECT_EQ(shift_right_saturate<std::int64_t>(-256, 2, {16, 7}),
              (Narrowed<std::int64_t>{-64, false}));
}

TEST(Round, LeftShiftsSaturateAtTheOutputWidth) {
    for (std::int64_t value = -32768; value <= 32767; value += 7) {
        for (unsigned shift = 0; shift < 64; ++shift) {
            const double exact = std::ldexp(static_cast<double>(value), static_cast<int>(shift));
            const double clamped = std::min(2147483647.0, std::max(-2147483648.0, exact));
            const Narrowed<std::int64_t> actual = shift_left_saturate(value, shift, 32);
            ASSERT_EQ(static_cast<double>(actual.value), clamped) << value << " << " << shift;
            ASSERT_EQ(actual.saturated, clamped != exact);
        }
    }
}

TEST(Round, NegativeShiftAmountsShiftLeft) {
    EXPECT_EQ(shift_signed_saturate(3, -2, {32, 16}).value, 12);
    EXPECT_EQ(shift_signed_saturate(3, 1, {32, 16}).value, 2);
    EXPECT_EQ(shift_signed_saturate(-3, -20, {32, 16}).value, -32768);
}

}  // namespace
}  // namespace npuscope
