// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/synthetic_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "models/base/check.h"

namespace npuscope {
namespace {

WeightLayout layout(const KernelShape& shape) { return direct_weights(shape, DatapathConfig{}); }

constexpr KernelShape kernels{20, 12, 2, 3};

TEST(SyntheticValues, FollowSeedLayerAndPlaceAlone) {
    const LayerValues values(1, 2, kernels, 0);
    const auto differ = [&](const LayerValues& other) {
        std::size_t different = 0;
        for (std::uint32_t k = 0; k < 20; ++k) {
            different += values.weight(k, 3, 1, 2) != other.weight(k, 3, 1, 2) ? 1U : 0U;
        }
        return different;
    };
    EXPECT_EQ(differ(LayerValues(1, 2, kernels, 0)), 0U);
    EXPECT_GT(differ(LayerValues(2, 2, kernels, 0)), 10U);
    EXPECT_GT(differ(LayerValues(1, 3, kernels, 0)), 10U);
}

TEST(SyntheticValues, AreSpreadOverAllBytes) {
    const InputValues values(3, {10, 100, 100});
    std::set<std::int8_t> seen;
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        seen.insert(values.at(7, i / 100, i % 100));
    }
    EXPECT_EQ(seen.size(), 256U);
}

TEST(SyntheticValues, SoManyWeightsInAHundredAreZero) {
    const LayerValues values(1, 0, {100, 100, 1, 1}, 70);
    std::size_t zeros = 0;
    for (std::uint32_t i = 0; i < 10'000; ++i) {
        zeros += values.weight(i / 100, i % 100, 0, 0) == 0 ? 1U : 0U;
    }
    EXPECT_GT(zeros, 6'800U);
    EXPECT_LT(zeros, 7'300U);
}

TEST(SyntheticValues, WeightsStandWhereTheLayoutHasThem) {
    const LayerValues values(5, 1, kernels, 0);
    for (const std::uint32_t row_group : {1U, 2U, 4U}) {
        WeightLayout weights = layout(row_group == 1 ? kernels : KernelShape{20, 12, 5, 1});
        weights.row_group = row_group;
        std::vector<std::uint8_t> bytes(weights.stored_bytes().value);
        fill_weights(weights, bytes,
                     [&](auto k, auto c, auto r, auto s) { return values.weight(k, c, r, s); });
        const Kernels<std::int8_t> decoded = decode_weights<std::int8_t>(weights, bytes);
        for (std::uint32_t i = 0; i < weights.shape.elements(); ++i) {
            const std::uint32_t taps = weights.shape.rows * weights.shape.columns;
            const std::uint32_t k = i / taps / 12;
            const std::uint32_t c = i / taps % 12;
            const std::uint32_t r = i % taps / weights.shape.columns;
            const std::uint32_t s = i % weights.shape.columns;
            ASSERT_EQ(decoded.at(k, c, r, s), values.weight(k, c, r, s));
        }
    }
}

TEST(SyntheticValues, ManyWeightsOfAKernelAreThoseOfEachChannelAndTap) {
    for (const std::uint32_t zeros : {0U, 30U}) {
        const LayerValues values(5, 1, kernels, zeros);
        const std::uint32_t taps = kernels.rows * kernels.columns;
        std::vector<std::int8_t> many(7 * taps);
        values.of_kernel(3, 4, many);
        for (std::uint32_t i = 0; i < many.size(); ++i) {
            const std::uint32_t tap = i % taps;
            EXPECT_EQ(many[i],
                      values.weight(3, 4 + i / taps, tap / kernels.columns, tap % kernels.columns))
                << zeros << ' ' << i;
        }
    }
}

TEST(SyntheticValues, WeightsEndInZeros) {
    const WeightLayout weights = layout({5, 3, 3, 1});
    std::vector<std::uint8_t> bytes(weights.stored_bytes().value + 3, 0xee);
    fill_weights(weights, bytes, [](auto, auto, auto, auto) { return std::int8_t{1}; });
    EXPECT_TRUE(std::all_of(bytes.begin() + 45, bytes.end(), [](auto byte) { return byte == 0; }));
}

TEST(SyntheticValues, BiasesStayInTheirLimitAndUnusedLanesAreZero) {
    std::vector<std::int16_t> biases;
    for (std::uint32_t k = 0; k < 10; ++k) {
        biases.push_back(LayerValues(1, 0, kernels, 0).bias(k, 100));
    }
    std::vector<std::uint8_t> bytes(48, 0xee);
    fill_operands({3, 8, 4, 10}, bytes, biases, {});
    for (std::size_t i = 0; i < 24; ++i) {
        const auto value = static_cast<std::int16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8);
        EXPECT_LE(std::abs(value), i % 8 < 4 && i < 18 ? 100 : 0) << i;
    }
}

TEST(SyntheticValues, MustHaveRoom) {
    std::vector<std::uint8_t> bytes(10);
    const auto one = [](auto, auto, auto, auto) { return std::int8_t{1}; };
    EXPECT_THROW(fill_weights(layout({8, 8, 1, 1}), bytes, one), InternalError);
    EXPECT_THROW(fill_operands({1, 8, 8, 8}, bytes, std::vector<std::int16_t>(8), {}),
                 InternalError);
}

TEST(Rescale, BringsEverySumBackToTheSameSpread) {
    for (const std::uint64_t products : {1U, 9U, 64U, 147U, 4608U, 25088U}) {
        const Rescale rescale = rescale_sum(products);
        const double factor =
            std::ldexp(rescale.convertor.scale, -static_cast<int>(rescale.convertor.shift));
        const double spread = 74.0 * 28.0 * std::sqrt(static_cast<double>(products)) * factor;
        EXPECT_NEAR(spread, 32.0, 0.05) << products;
        EXPECT_GT(rescale.convertor.scale, 1 << 12);
        EXPECT_LT(rescale.convertor.shift, 64U);
    }
}

TEST(Rescale, GivesAResidualAboutItsOwnSize) {
    for (const std::uint64_t products : {1U, 64U, 4608U}) {
        const Rescale rescale = rescale_sum(products);
        const double factor =
            std::ldexp(rescale.convertor.scale, static_cast<int>(rescale.residual_shift) -
                                                    static_cast<int>(rescale.convertor.shift));
        EXPECT_GT(factor, 0.5);
        EXPECT_LT(factor, 1.1);
    }
}

TEST(Rescale, BiasFitsSixteenBits) {
    for (const std::uint64_t products : {1U, 64U, 1000000U}) {
        EXPECT_GT(rescale_sum(products).bias_limit, 0);
        EXPECT_LE(rescale_sum(products).bias_limit, 4096);
    }
}

}  // namespace
}  // namespace npuscope
