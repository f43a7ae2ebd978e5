// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cacc_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "models/conv/conv_config.h"

namespace npuscope {
namespace {

/// The truncation as the hardware is wired: 34 bits with 16 below the point, shifted, guard and
/// sticky bits picked out, the two bits above the result compared with the sign.
Narrowed<std::int32_t> wired_truncation(std::int64_t sum, std::uint32_t shift) {
    const std::int64_t shifted = (sum * 65536) >> shift;
    const std::int64_t whole = shifted >> 16;
    const bool negative = sum < 0;
    const bool guard = ((shifted >> 15) & 1) != 0;
    const bool sticky = (shifted & 0x7FFF) != 0;
    const bool half = guard && (!negative || sticky);
    const auto above = static_cast<unsigned>(whole >> 31 & 3);
    const bool full = (whole & 0x7FFFFFFF) == 0x7FFFFFFF;
    if (negative ? above != 3 : (above != 0 || (full && half))) {
        return {negative ? INT32_MIN : INT32_MAX, true};
    }
    return {static_cast<std::int32_t>(whole + (half ? 1 : 0)), false};
}

TEST(CaccMath, TruncationAgreesWithTheWiresForEveryShift) {
    std::mt19937_64 random(4);
    constexpr std::int64_t limit = std::int64_t{1} << 33;
    for (std::uint32_t shift = 0; shift < 32; ++shift) {
        for (int i = 0; i < 40000; ++i) {
            const auto wide = static_cast<std::int64_t>(random()) >> (30 + i % 30);
            const std::int64_t sum = std::clamp(wide, -limit, limit - 1);
            ASSERT_EQ(truncate_sum(sum, shift), wired_truncation(sum, shift))
                << sum << " >> " << shift;
        }
        for (const std::int64_t edge : {-limit, limit - 1, std::int64_t{INT32_MAX} << shift % 3,
                                        std::int64_t{INT32_MIN} - 1, std::int64_t{0}}) {
            ASSERT_EQ(truncate_sum(edge, shift), wired_truncation(edge, shift));
        }
    }
}

TEST(CaccMath, SumsOfWinogradNeverReachTheWidthOfTheAccumulator) {
    const double channels = 8192;  // D_DATAIN_SIZE_EXT_1 has 13 bits
    const double products = 9;     // of a channel's 16, an output adds at most this many
    const double int8 = 128.0 * 128.0;
    const double int16 = 32768.0 * 32768.0;
    const CaccConfig config;
    EXPECT_LT(channels * products * int8, std::ldexp(1.0, int(config.partial_sum_bits) - 1));
    EXPECT_LT(channels * products * int16, std::ldexp(1.0, int(config.partial_sum_bits_int16) - 1));
}

TEST(CaccMath, ShiftsUpToSixteenRoundHalfAwayFromZero) {
    for (std::int64_t sum = -70000; sum <= 70000; sum += 3) {
        for (std::uint32_t shift = 0; shift <= 16; ++shift) {
            const double exact = std::ldexp(static_cast<double>(sum), -static_cast<int>(shift));
            ASSERT_EQ(truncate_sum(sum, shift).value, std::llround(exact));
        }
    }
}

TEST(CaccMath, ANegativeHalfBeyondSixteenBitsIsTakenForExact) {
    // -(2^16 - 1) / 2^17 is just above -0.5 and rounds to 0, but its lowest bit is lost: -0.5.
    EXPECT_EQ(truncate_sum(-65535, 17).value, -1);
    EXPECT_EQ(truncate_sum(-65534, 17).value, 0);
}

TEST(CaccMath, SumsAreTruncatedElementByElement) {
    const Tensor<std::int8_t> data({8, 3, 4}, 100);
    const Kernels<std::int8_t> kernels({3, 8, 2, 2}, -3);
    Accumulation accumulation;
    accumulation.convolution.out_height = 2;
    accumulation.convolution.out_width = 3;
    accumulation.clip_truncate = 4;
    const AccumulatedSums sums = accumulate(data, kernels, accumulation);
    EXPECT_EQ(sums.values, Tensor<std::int32_t>({3, 2, 3}, -8 * 4 * 100 * 3 / 16));
    EXPECT_EQ(sums.saturated, 0U);
}

TEST(CaccMath, SumsBeyond32BitsSaturateAndAreCounted) {
    const Tensor<std::int8_t> data({8192, 2, 2}, -128);
    Kernels<std::int8_t> kernels({2, 8192, 4, 4}, -128);
    std::fill_n(kernels.values.begin(), kernels.values.size() / 2, std::int8_t{1});
    Accumulation accumulation;
    accumulation.convolution.pad_value = -128;
    const AccumulatedSums sums = accumulate(data, kernels, accumulation);
    EXPECT_EQ(sums.values.at(0, 0, 0), -8192 * 16 * 128);
    EXPECT_EQ(sums.values.at(1, 0, 0), INT32_MAX);
    EXPECT_EQ(sums.saturated, 1U);
}

TEST(CaccMath, PartialSumsStayInTheirWidthInHardwareOrder) {
    // Eight channels up, eight down: at 18 bits the first block saturates at 131071.
    Tensor<std::int8_t> data({16, 1, 1}, -128);
    Kernels<std::int8_t> kernels({1, 16, 1, 1}, -128);
    for (std::uint32_t c = 8; c < 16; ++c) {
        kernels.at(0, c, 0, 0) = 127;
    }
    Accumulation accumulation;
    accumulation.accumulator = {{8}, 18};
    EXPECT_EQ(accumulate(data, kernels, accumulation).values.at(0, 0, 0), 131071 - 8 * 127 * 128);
    accumulation.accumulator = {{8}, 34};
    EXPECT_EQ(accumulate(data, kernels, accumulation).values.at(0, 0, 0), 8 * 128);
}

TEST(CaccMath, SixteenBitSumsAreTruncatedAndCountedLikeBytes) {
    Tensor<std::int16_t> data({2, 1, 1}, -32768);
    Kernels<std::int16_t> kernels({2, 2, 1, 1}, -32768);
    kernels.at(1, 0, 0, 0) = 3;
    kernels.at(1, 1, 0, 0) = 0;
    Accumulation accumulation;
    accumulation.precision = Precision::Int16;
    accumulation.accumulator = {{64}, 48};
    const AccumulatedSums sums = accumulate(data, kernels, accumulation);
    EXPECT_EQ(sums.values.at(0, 0, 0), INT32_MAX);  // 2^31
    EXPECT_EQ(sums.values.at(1, 0, 0), -98304);
    EXPECT_EQ(sums.saturated, 1U);
    accumulation.clip_truncate = 16;
    EXPECT_EQ(accumulate(data, kernels, accumulation).values.at(1, 0, 0), -2);  // -1.5
}

TEST(CaccMath, FloatingSumsLeaveAsFloats) {
    Tensor<std::int16_t> data({1, 1, 1}, 0x3C00);
    Kernels<std::int16_t> kernels({1, 1, 1, 1}, 0x4100);  // 2.5
    Accumulation accumulation;
    accumulation.precision = Precision::Fp16;
    accumulation.clip_truncate = 5;
    const AccumulatedSums sums = accumulate(data, kernels, accumulation);
    EXPECT_EQ(std::bit_cast<float>(sums.values.at(0, 0, 0)), 2.5F);
    EXPECT_EQ(sums.saturated, 0U);
}

TEST(CaccMath, BatchesAreConvolvedApartAndLieBelowEachOther) {
    Tensor<std::int8_t> data({1, 4, 2});
    data.values = {1, 2, 3, 4, 5, 6, 7, 8};  // two batches of 2 x 2
    Kernels<std::int8_t> kernels({1, 1, 3, 1}, 1);
    Accumulation accumulation;
    accumulation.convolution = {.out_height = 2, .out_width = 2, .pad_top = 1, .pad_value = 10};
    accumulation.batches = 2;
    const AccumulatedSums sums = accumulate(data, kernels, accumulation);
    EXPECT_EQ(sums.values.shape, (Shape{1, 4, 2}));
    EXPECT_EQ(sums.values.values, (std::vector<std::int32_t>{14, 16, 14, 16, 22, 24, 22, 24}));
}

}  // namespace
}  // namespace npuscope
