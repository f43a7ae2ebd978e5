// SPDX-License-Identifier: Apache-2.0
#include "models/arith/fixed_point.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace npuscope {
namespace {

TEST(FixedPoint, EveryInt16ThroughRandomConvertorsIsOffsetScaledRoundedAndClamped) {
    std::mt19937 random(11);
    for (int round = 0; round < 40; ++round) {
        const Conversion conversion{static_cast<std::int16_t>(random()),
                                    static_cast<std::int16_t>(random()),
                                    static_cast<unsigned>(random() % 34)};
        for (std::int64_t value = -32768; value <= 32767; ++value) {
            const double product = static_cast<double>(value - conversion.offset) *
                                   static_cast<double>(conversion.scale);
            const double rounded =
                std::round(std::ldexp(product, -static_cast<int>(conversion.shift)));
            const double expected = std::min(127.0, std::max(-128.0, rounded));
            ASSERT_EQ(static_cast<double>(convert(value, conversion, image_convertor_int8)),
                      expected);
        }
    }
}

TEST(FixedPoint, TheInnerWidthOfSeventeenBitsDoesNotShowBehindSixteen) {
    const Conversion identity{};
    EXPECT_EQ(convert(70000, identity, image_convertor_int16), 32767);
    EXPECT_EQ(convert(-70000, identity, image_convertor_int16), -32768);
    EXPECT_TRUE(convert_flagged(70000, identity, image_convertor_int16).saturated);
    EXPECT_FALSE(convert_flagged(32767, identity, image_convertor_int16).saturated);
}

}  // namespace
}  // namespace npuscope
