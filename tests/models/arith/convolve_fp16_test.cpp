// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>

#include "models/arith/convolve.h"
#include "models/arith/fp16_mac.h"

namespace npuscope {
namespace {

class ConvolveFp16Test : public testing::Test {
 protected:
    std::uint32_t below(std::uint32_t limit) {
        return static_cast<std::uint32_t>(random_() % limit);
    }
    /// Bit patterns of all kinds: zeros, denormals, infinities and, where asked, NaNs.
    std::int16_t any_bits(bool nans) {
        std::uint32_t bits = random_() & 0xFFFFU;
        if (below(4) == 0) {
            bits &= 0x8000U;
        }
        const auto value = static_cast<Fp16>(bits);
        return static_cast<std::int16_t>(is_nan(value) && !nans ? 0x7C00 : value);
    }
    template <class Container>
    void fill(Container& values, bool nans) {
        for (std::int16_t& value : values) {
            value = any_bits(nans);
        }
    }
    /// Results as bits, every NaN the same.
    static std::uint32_t comparable(std::int32_t bits) {
        const auto value = static_cast<std::uint32_t>(bits);
        return is_nan_bits<Fp32Format>(value) ? 0x7FC00000U : value;
    }

    std::mt19937 random_{16};
};

TEST_F(ConvolveFp16Test, VectorsAgreeWithTheOracleOverRandomShapesAndOrders) {
    for (int round = 0; round < 60; ++round) {
        const bool nans = round % 4 == 0;
        const Shape shape{1 + below(150), 1 + below(6), 1 + below(9)};
        const KernelShape kernel{1 + below(20), shape.channels, 1 + below(3), 1 + below(3)};
        Convolution geometry{.out_height = 1 + below(4),
                             .out_width = 1 + below(6),
                             .stride_y = 1 + below(3),
                             .stride_x = 1 + below(3),
                             .dilation_y = 1 + below(2),
                             .dilation_x = 1 + below(2),
                             .pad_top = below(3),
                             .pad_left = below(3),
                             .pad_value = any_bits(nans)};
        MacOrder order;
        order.columns_are_channels = below(2) == 1;
        order.row_group = order.columns_are_channels ? 1U << below(3) : 1U;
        order.block_channels = order.row_group == 1 ? 64 : 64 / order.row_group;
        Tensor<std::int16_t> data(shape);
        Kernels<std::int16_t> kernels(kernel);
        fill(data.values, nans && round % 8 == 0);
        fill(kernels.values, nans && round % 8 == 4);
        const auto fast = convolve_fp16(data, kernels, geometry, order);
        const auto plain = convolve_fp16_plain(data, kernels, geometry, order);
        ASSERT_EQ(fast.shape, plain.shape);
        for (std::size_t i = 0; i < fast.values.size(); ++i) {
            ASSERT_EQ(comparable(fast.values[i]), comparable(plain.values[i]))
                << "round " << round << ", element " << i;
        }
    }
}

TEST_F(ConvolveFp16Test, SmallIntegersAreExact) {
    for (int round = 0; round < 20; ++round) {
        Tensor<std::int16_t> data({1 + below(100), 5, 5});
        Kernels<std::int16_t> kernels({3, data.shape.channels, 3, 3});
        std::vector<int> x(data.values.size());
        std::vector<int> w(kernels.values.size());
        const auto draw = [&](std::vector<int>& numbers, std::vector<std::int16_t>& bits) {
            for (std::size_t i = 0; i < numbers.size(); ++i) {
                numbers[i] = static_cast<int>(below(33)) - 16;
                bits[i] = static_cast<std::int16_t>(narrow(static_cast<float>(numbers[i])));
            }
        };
        draw(x, data.values);
        draw(w, kernels.values);
        const Convolution geometry{.out_height = 3, .out_width = 3};
        const auto sums = convolve_fp16(data, kernels, geometry, {});
        for (std::uint32_t k = 0; k < 3; ++k) {
            std::int64_t exact = 0;  // of output (1, 2)
            for (std::uint32_t c = 0; c < data.shape.channels; ++c) {
                for (std::uint32_t tap = 0; tap < 9; ++tap) {
                    exact += x[data.index(c, 1 + tap / 3, 2 + tap % 3)] *
                             w[kernels.index(k, c, tap / 3, tap % 3)];
                }
            }
            EXPECT_EQ(std::bit_cast<float>(sums.at(k, 1, 2)), static_cast<float>(exact));
        }
    }
}

TEST(Fp16MacTest, InfinityCountsAs65536) {
    const std::array<Fp16, 1> infinity{0x7C00};
    const std::array<Fp16, 1> one{0x3C00};
    Fp16Accumulator sum;
    sum.add(fp16_block_sum(infinity, one));
    EXPECT_EQ(std::bit_cast<float>(sum.fp32_bits()), 65536.0F);
}

TEST(Fp16MacTest, DenormalsAreMultipliedExactly) {
    const std::array<Fp16, 2> smallest{0x0001, 0x8003};  // 2^-24, -3 * 2^-24
    const std::array<Fp16, 2> weights{0x4000, 0x3C00};   // 2, 1
    Fp16Accumulator sum;
    sum.add(fp16_block_sum(smallest, weights));
    EXPECT_EQ(std::bit_cast<float>(sum.fp32_bits()), -0x1p-24F);
}

TEST(Fp16MacTest, ZerosOfEitherSignDoNotAlignAnything) {
    // 65504 times -0 would push 2^-24 out of the sum if it took part
    const std::array<Fp16, 2> data{0x8000, 0x0001};
    const std::array<Fp16, 2> weights{0x7BFF, 0x0400};  // 2^-14
    const Fp16BlockSum sum = fp16_block_sum(data, weights);
    EXPECT_EQ(sum.exponent, 0);
    EXPECT_GT(sum.mantissa, 0);
}

TEST(Fp16MacTest, AProductThatIsCutLosesAtMostOneUnit) {
    std::mt19937 random(7);
    for (int i = 0; i < 200000; ++i) {
        const Fp16Operand x = fp16_operand(static_cast<Fp16>(random() & 0xFBFFU));
        const Fp16Operand w = fp16_operand(static_cast<Fp16>(random() & 0xFBFFU));
        const auto shift = static_cast<unsigned>(random() % 8 * 4);
        std::int64_t exact = std::int64_t{x.mantissa} * w.mantissa;
        exact = (x.negative != w.negative ? -exact : exact) >> shift;
        const std::int64_t cut = fp16_product(x, w, shift);
        ASSERT_LE(std::abs(exact - cut), 1) << shift;
        if (shift == 0) {
            ASSERT_EQ(exact, cut);
        }
    }
}

TEST(Fp16MacTest, TheAccumulatorRoundsHalfAwayFromZero) {
    // 2^39 units hold 38 bits below the leading one: 1 + 2^-39 is half way between two numbers
    const Fp16BlockSum one{.mantissa = 1, .exponent = 50};
    const Fp16BlockSum half_unit{.mantissa = 1, .exponent = 12};
    Fp16Accumulator up;
    up.add(one);
    for (int i = 0; i < 2; ++i) {
        up.add(half_unit);
    }
    EXPECT_EQ(std::bit_cast<float>(up.fp32_bits()), 1.0F);
    const Fp16BlockSum minus_one{.mantissa = -1, .exponent = 50};
    Fp16Accumulator back = up;
    back.add(minus_one);
    EXPECT_GT(std::bit_cast<float>(back.fp32_bits()), 0.0F);
}

TEST(Fp16MacTest, ANanStays) {
    const std::array<Fp16, 1> nan{0xFE01};
    const std::array<Fp16, 1> zero{0};
    const std::array<Fp16, 1> one{0x3C00};
    Fp16Accumulator sum;
    sum.add(fp16_block_sum(nan, zero));
    sum.add(fp16_block_sum(one, one));
    EXPECT_TRUE(is_nan_bits<Fp32Format>(sum.fp32_bits()));
}

}  // namespace
}  // namespace npuscope
