// SPDX-License-Identifier: Apache-2.0
#include "sim/model/result_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace npuscope {
namespace {

/// As a runtime computes it: in float32, ties to even.
double runtime_result(std::int64_t sum, double factor) {
    return static_cast<double>(
        std::nearbyint(static_cast<float>(sum) * static_cast<float>(factor)));
}

/// As hardware does: in real numbers, ties away from zero.
double hardware_result(std::int64_t sum, double scale) {
    return std::round(static_cast<double>(sum) * scale);
}

/// Sums whose clipped results differ, of all within reach.
std::int64_t differing(double factor, double scale, const ResultRange& range) {
    const auto reach = static_cast<std::int64_t>(range.reach);
    std::int64_t differ = 0;
    for (std::int64_t sum = -reach; sum <= reach; ++sum) {
        const auto clip = [&](double result) { return std::clamp(result, range.low, range.high); };
        differ += clip(runtime_result(sum, factor)) != clip(hardware_result(sum, scale)) ? 1 : 0;
    }
    return differ;
}

TEST(ResultSteps, EveryScaleBetweenTheBoundsGivesTheRuntimesResults) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> exponent(-7, -4);
    int exact = 0;
    for (int i = 0; i < 60; ++i) {
        const auto factor = static_cast<double>(static_cast<float>(std::exp(exponent(random))));
        const ResultRange range =
            i % 2 == 0 ? ResultRange{-128, 127, 150000} : ResultRange{-17, 238, 90000};
        const ScaleBounds bounds = scale_bounds(factor, range);
        ASSERT_LT(bounds.above, bounds.below) << factor;
        EXPECT_NEAR(bounds.middle() / factor, 1, 1e-4) << factor;
        const double width = bounds.below - bounds.above;
        for (const double share : {0.001, 0.5, 0.999}) {
            const double scale = bounds.above + share * width;
            ASSERT_TRUE(bounds.hold(scale));
            EXPECT_EQ(differing(factor, scale, range) == 0, bounds.keep_all) << factor;
            exact += bounds.keep_all ? 1 : 0;
        }
        EXPECT_GT(differing(factor, bounds.above - width / 8, range), 0) << factor;
        EXPECT_GT(differing(factor, bounds.below + width / 8, range), 0) << factor;
    }
    EXPECT_GE(exact, 150);  // of 180: some factors have ties that no single scale rounds
}

/// Results of a few small sums have wide bounds: what no sum reaches says nothing.
TEST(ResultSteps, OnlySumsWithinReachCount) {
    const ResultRange range{-128, 127, 40};
    const ScaleBounds bounds = scale_bounds(0.0703125, range);
    EXPECT_TRUE(bounds.keep_all);
    EXPECT_EQ(differing(0.0703125, bounds.middle(), range), 0);
    EXPECT_GT(bounds.below / bounds.above, 1.001);
}

/// 8/16 and 40/16 go down to even, 24/16 up: no scale does all, and the results near 0 come first.
TEST(ResultSteps, OfContradictingHalvesThoseNearZeroCount) {
    const ScaleBounds bounds = scale_bounds(0.0625, {-128, 127, 3000});
    ASSERT_LT(bounds.above, bounds.below);
    EXPECT_FALSE(bounds.keep_all);
    for (const std::int64_t sum : {8, -8, 7, 9, 25, -25}) {
        EXPECT_EQ(hardware_result(sum, bounds.middle()), runtime_result(sum, 0.0625)) << sum;
    }
}

}  // namespace
}  // namespace npuscope
