// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/arith/fixed_point.h"

namespace npuscope {
namespace {

TEST(Saturate, EveryInt16ClampsToInt8LikeItsDefinition) {
    for (std::int32_t value = -32768; value <= 32767; ++value) {
        const std::int32_t expected = value > 127 ? 127 : value < -128 ? -128 : value;
        const Narrowed<std::int32_t> actual = saturate_flagged(value, 8);
        ASSERT_EQ(actual.value, expected);
        ASSERT_EQ(actual.saturated, expected != value);
        ASSERT_EQ(saturate_to<std::int8_t>(value), expected);
    }
}

TEST(Saturate, LimitsOfAllWidthsAreThoseOfTwosComplement) {
    for (unsigned bits = 1; bits < 64; ++bits) {
        const std::int64_t half = std::int64_t{1} << (bits - 1);
        EXPECT_EQ(max_of_bits<std::int64_t>(bits), half - 1) << bits;
        EXPECT_EQ(min_of_bits<std::int64_t>(bits), -half) << bits;
    }
    EXPECT_EQ(max_of_bits<std::int64_t>(64), INT64_MAX);
    EXPECT_EQ(min_of_bits<std::int64_t>(64), INT64_MIN);
}

TEST(Saturate, SignExtensionReadsTheTopBitOfTheWire) {
    EXPECT_EQ(sign_extend(0x3FF, 10), -1);
    EXPECT_EQ(sign_extend(0x1FF, 10), 511);
    EXPECT_EQ(sign_extend(0xFFFF0200, 10), -512);
}

}  // namespace
}  // namespace npuscope
