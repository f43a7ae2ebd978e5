// SPDX-License-Identifier: Apache-2.0
#include "models/cdma/cdma_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace npuscope {
namespace {

/// Every 8-bit code in every one of four channels.
Tensor<std::uint16_t> all_codes() {
    Tensor<std::uint16_t> codes({4, 1, 256});
    for (std::size_t i = 0; i < codes.values.size(); ++i) {
        codes.values[i] = static_cast<std::uint16_t>(i % 256);
    }
    return codes;
}

TEST(CdmaMath, WithoutConversionTheBitsPassAndNoMeanIsSubtracted) {
    InputConversion conversion;
    conversion.use_mean = true;
    conversion.mean = {1, 2, 3, 4};
    const Tensor<std::int8_t> data = convert_pixels(all_codes(), conversion);
    EXPECT_EQ(data.at(2, 0, 255), -1);
    EXPECT_EQ(data.at(3, 0, 128), -128);
}

TEST(CdmaMath, EveryCodeIsOffsetScaledRoundedHalfAwayAndClamped) {
    std::mt19937 random(2);
    for (int round = 0; round < 300; ++round) {
        InputConversion conversion;
        conversion.enabled = true;
        conversion.signed_input = random() % 2 == 0;
        conversion.use_mean = random() % 2 == 0;
        conversion.offset = static_cast<std::int16_t>(random() % 512 - 256);
        for (std::int16_t& mean : conversion.mean) {
            mean = static_cast<std::int16_t>(random() % 512 - 256);
        }
        conversion.scale = static_cast<std::int16_t>(random());
        conversion.truncate = static_cast<std::uint32_t>(random() % 20);
        const Tensor<std::int8_t> data = convert_pixels(all_codes(), conversion);
        for (std::uint32_t c = 0; c < 4; ++c) {
            const int subtracted = conversion.use_mean ? conversion.mean[c] : conversion.offset;
            for (std::uint32_t code = 0; code < 256; ++code) {
                const int value = conversion.signed_input && code > 127
                                      ? static_cast<int>(code) - 256
                                      : static_cast<int>(code);
                const double product = double{1} * (value - subtracted) * conversion.scale;
                const double rounded =
                    std::round(std::ldexp(product, -static_cast<int>(conversion.truncate)));
                ASSERT_EQ(data.at(c, 0, code), std::clamp(rounded, -128.0, 127.0));
            }
        }
    }
}

TEST(CdmaMath, FeatureDataIsConvertedWithTheOffsetWhereConversionIsOn) {
    Tensor<std::int8_t> data({1, 1, 3});
    data.values = {-128, 5, 127};
    InputConversion conversion;
    conversion.offset = 3;
    conversion.scale = 2;
    convert_feature(data, conversion);
    EXPECT_EQ(data.values, (std::vector<std::int8_t>{-128, 5, 127}));
    conversion.enabled = true;
    convert_feature(data, conversion);
    EXPECT_EQ(data.values, (std::vector<std::int8_t>{-128, 4, 127}));
}

}  // namespace
}  // namespace npuscope
