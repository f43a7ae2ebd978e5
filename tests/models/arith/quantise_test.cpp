// SPDX-License-Identifier: Apache-2.0
#include "models/arith/quantise.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace npuscope {
namespace {

template <class T>
T one(float value, float factor = 1, QuantiseMath math = QuantiseMath::Float32) {
    std::array<float, 40> values{};
    std::array<T, 40> fixed{};
    values.fill(value);
    EXPECT_TRUE(quantise<T>(values, factor, math, fixed.data()));
    for (const T each : fixed) {
        EXPECT_EQ(each, fixed[0]);  // in vectors and in the remainder
    }
    return fixed[0];
}

TEST(Quantise, TiesGoToTheEvenNeighbour) {
    for (const QuantiseMath math : {QuantiseMath::Float32, QuantiseMath::Float64}) {
        EXPECT_EQ(one<std::int8_t>(0.5F, 1, math), 0);
        EXPECT_EQ(one<std::int8_t>(1.5F, 1, math), 2);
        EXPECT_EQ(one<std::int8_t>(2.5F, 1, math), 2);
        EXPECT_EQ(one<std::int8_t>(-2.5F, 1, math), -2);
        EXPECT_EQ(one<std::int16_t>(-3.5F, 1, math), -4);
        EXPECT_EQ(one<float>(2.5F, 1, math), 2.0F);
    }
}

TEST(Quantise, LimitsAreKept) {
    EXPECT_EQ(one<std::int8_t>(127.5F), 127);
    EXPECT_EQ(one<std::int8_t>(-128.5F), -128);
    EXPECT_EQ(one<std::int8_t>(1e30F), 127);
    EXPECT_EQ(one<std::int16_t>(40000), 32766);
    EXPECT_EQ(one<std::int16_t>(-40000), -32768);
    EXPECT_EQ(one<std::int8_t>(std::numeric_limits<float>::infinity()), 127);
    EXPECT_EQ(one<float>(-1e30F), -1e30F);
}

TEST(Quantise, NegativeRadicesDivide) {
    const std::array<float, 1> scale{1};
    const std::array<int, 1> radix{-1};
    const std::vector<float> factors = quantise_factors(scale, radix);
    EXPECT_EQ(factors, (std::vector<float>{0.5F}));
    EXPECT_EQ(one<std::int8_t>(9, factors[0]), 4);  // 4.5 to even
}

TEST(Quantise, WhatIsNoNumberIsTold) {
    std::array<float, 20> values{};
    std::array<std::int8_t, 20> fixed{};
    for (const std::size_t at : {std::size_t{0}, std::size_t{7}, std::size_t{19}}) {
        values.fill(1);
        values[at] = std::nanf("");
        EXPECT_FALSE(quantise<std::int8_t>(values, 1, QuantiseMath::Float32, fixed.data()));
        EXPECT_FALSE(quantise<std::int8_t>(values, 1, QuantiseMath::Float64, fixed.data()));
        EXPECT_EQ(fixed[at], 0);
    }
}

TEST(Quantise, EveryFixedValueComesBack) {
    for (const float factor : {1.0F, 32.0F, 0.25F}) {
        std::vector<std::int16_t> fixed;
        for (int value = -32768; value <= 32766; ++value) {
            fixed.push_back(static_cast<std::int16_t>(value));
        }
        std::vector<float> values(fixed.size());
        std::vector<std::int16_t> again(fixed.size());
        dequantise<std::int16_t>(fixed, factor, values.data());
        quantise<std::int16_t>(values, factor, QuantiseMath::Float32, again.data());
        EXPECT_EQ(again, fixed);
    }
}

TEST(Quantise, FactorsOfEachValueAreTheSameAsOneByOne) {
    const std::array<float, 3> values{1.25F, -2.5F, 7};
    const std::array<float, 3> factors{2, 1, 0.5F};
    std::array<std::int8_t, 3> fixed{};
    quantise_each<std::int8_t>(values, factors, QuantiseMath::Float32, fixed.data());
    EXPECT_EQ(fixed, (std::array<std::int8_t, 3>{2, -2, 4}));
    std::array<float, 3> back{};
    dequantise_each<std::int8_t>(fixed, factors, back.data());
    EXPECT_EQ(back, (std::array<float, 3>{1, -2, 8}));
}

TEST(Quantise, ListsThatDoNotAgreeGiveNoFactors) {
    const std::array<float, 2> scale{1, 2};
    const std::array<int, 3> radix{1, 2, 3};
    EXPECT_TRUE(quantise_factors(scale, radix).empty());
}

}  // namespace
}  // namespace npuscope
