// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cdma_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "models/arith/float16.h"

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
    CdmaJob job;
    job.conversion.use_mean = true;
    job.conversion.mean = {1, 2, 3, 4};
    const auto data = std::get<Tensor<std::int8_t>>(convert_pixels(all_codes(), job));
    EXPECT_EQ(data.at(2, 0, 255), -1);
    EXPECT_EQ(data.at(3, 0, 128), -128);
}

TEST(CdmaMath, EveryCodeIsOffsetScaledRoundedHalfAwayAndClamped) {
    std::mt19937 random(2);
    for (int round = 0; round < 300; ++round) {
        CdmaJob job;
        InputConversion& conversion = job.conversion;
        conversion.enabled = true;
        conversion.signed_input = random() % 2 == 0;
        conversion.use_mean = random() % 2 == 0;
        conversion.offset = static_cast<std::int16_t>(random() % 512 - 256);
        for (std::int16_t& mean : conversion.mean) {
            mean = static_cast<std::int16_t>(random() % 512 - 256);
        }
        conversion.scale = static_cast<std::int16_t>(random());
        conversion.truncate = static_cast<std::uint32_t>(random() % 20);
        const auto data = std::get<Tensor<std::int8_t>>(convert_pixels(all_codes(), job));
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

/// (x - offset) * scale / 2^truncate, rounded half away from zero.
double converted(int value, const InputConversion& conversion) {
    const double product = double{1} * (value - conversion.offset) * conversion.scale;
    return std::round(std::ldexp(product, -static_cast<int>(conversion.truncate)));
}

TEST(CdmaMath, EverySixteenBitCodeIsConvertedToEveryPrecision) {
    Tensor<std::uint16_t> codes({1, 256, 256});
    for (std::size_t i = 0; i < codes.values.size(); ++i) {
        codes.values[i] = static_cast<std::uint16_t>(i);
    }
    CdmaJob job;
    job.in_precision = Precision::Int16;
    job.conversion.enabled = true;
    job.conversion.offset = -300;
    job.conversion.scale = 55;
    for (const bool is_signed : {false, true}) {
        job.conversion.signed_input = is_signed;
        job.conversion.truncate = 13;
        job.precision = Precision::Int8;
        const auto bytes = std::get<Tensor<std::int8_t>>(convert_pixels(codes, job));
        job.precision = Precision::Fp16;
        const auto floats = std::get<Tensor<std::int16_t>>(convert_pixels(codes, job));
        job.conversion.truncate = 6;
        job.precision = Precision::Int16;
        const auto words = std::get<Tensor<std::int16_t>>(convert_pixels(codes, job));
        for (int code = 0; code < 65536; ++code) {
            const auto at = static_cast<std::size_t>(code);
            const int value = is_signed && code > 32767 ? code - 65536 : code;
            job.conversion.truncate = 6;
            ASSERT_EQ(words.values[at],
                      std::clamp(converted(value, job.conversion), -32768.0, 32767.0));
            job.conversion.truncate = 13;
            const double small = converted(value, job.conversion);
            ASSERT_EQ(bytes.values[at], std::clamp(small, -128.0, 127.0));
            ASSERT_EQ(widen(static_cast<Fp16>(floats.values[at])), small);
        }
    }
}

TEST(CdmaMath, FloatingPixelsPassTheConvertorUntouched) {
    Tensor<std::uint16_t> codes({1, 1, 3});
    codes.values = {0x3C00, 0x7E01, 0x8000};
    CdmaJob job;
    job.in_precision = job.precision = Precision::Fp16;
    job.conversion.enabled = true;
    job.conversion.scale = 9;
    const auto data = std::get<Tensor<std::int16_t>>(convert_pixels(codes, job));
    EXPECT_EQ(data.values, (std::vector<std::int16_t>{0x3C00, 0x7E01, -32768}));
}

TEST(CdmaMath, FeatureDataIsConvertedWithTheOffsetWhereConversionIsOn) {
    Tensor<std::int8_t> bytes({1, 1, 3});
    bytes.values = {-128, 5, 127};
    ElementTensor data = bytes;
    CdmaJob job;
    job.conversion.offset = 3;
    job.conversion.scale = 2;
    convert_feature(data, job);
    EXPECT_EQ(std::get<0>(data).values, (std::vector<std::int8_t>{-128, 5, 127}));
    job.conversion.enabled = true;
    convert_feature(data, job);
    EXPECT_EQ(std::get<0>(data).values, (std::vector<std::int8_t>{-128, 4, 127}));
    Tensor<std::int16_t> words({1, 1, 3});
    words.values = {-32768, 5, 300};
    data = words;
    job.in_precision = job.precision = Precision::Int16;
    convert_feature(data, job);
    EXPECT_EQ(std::get<1>(data).values, (std::vector<std::int16_t>{-32768, 4, 594}));
}

TEST(CdmaMath, NansAndInfinitiesAreCountedAndNansFlushed) {
    // inf, NaN, 1.0, -inf, -NaN
    std::vector<std::uint8_t> bytes{0x00, 0x7C, 0x01, 0x7C, 0x00, 0x3C, 0x00, 0xFC, 0xFF, 0xFF};
    EXPECT_EQ(count_special(bytes), (SpecialCount{2, 2}));
    flush_nans(bytes);
    EXPECT_EQ(count_special(bytes), (SpecialCount{0, 2}));
    EXPECT_EQ(bytes[2] + bytes[3], 0);
    EXPECT_EQ(bytes[5], 0x3C);
}

TEST(CdmaMath, WinogradInputIsPaddedAndItsStridesBecomeChannels) {
    Tensor<std::int8_t> data({2, 6, 6});
    for (std::size_t i = 0; i < data.values.size(); ++i) {
        data.values[i] = static_cast<std::int8_t>(i);
    }
    CdmaJob job;
    job.pad_left = job.pad_right = 1;
    job.pad_value = 0x12FE;
    job.winograd = {.pad_top = 1,
                    .pad_bottom = 1,
                    .stride_y = 2,
                    .stride_x = 2,
                    .extended_height = 4,
                    .extended_width = 4};
    const auto result = std::get<Tensor<std::int8_t>>(extend_winograd(data, job, 32));
    EXPECT_EQ(result.shape, (Shape{128, 4, 4}));
    EXPECT_EQ(result.at(0, 0, 0), -2);                         // padding, as a byte
    EXPECT_EQ(result.at(1, 1, 2), data.at(1, 1, 3));           // phase (0, 0): rows 2y - 1
    EXPECT_EQ(result.at(32 * 3 + 1, 1, 2), data.at(1, 2, 4));  // phase (1, 1)
    EXPECT_EQ(result.at(32 * 1, 1, 0), data.at(0, 1, 0));      // phase (0, 1)
}

}  // namespace
}  // namespace npuscope
