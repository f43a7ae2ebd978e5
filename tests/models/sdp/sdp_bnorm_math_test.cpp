// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_bnorm_math.h"

#include <gtest/gtest.h>

#include <cmath>

#include "models/base/check.h"

namespace npuscope {
namespace {

Tensor<std::int64_t> sums_of(std::vector<std::int64_t> values) {
    Tensor<std::int64_t> sums({1, 1, static_cast<std::uint32_t>(values.size())});
    sums.values = std::move(values);
    return sums;
}

TEST(Bnorm, ShiftsRoundTowardsMinusInfinity) {
    EXPECT_EQ(bnorm_shifted(-1, {0, 1, 31}), -1);
    EXPECT_EQ(bnorm_shifted(-5, {0, 1, 1}), -3);
    EXPECT_EQ(bnorm_shifted(5, {0, 1, 1}), 2);
    EXPECT_EQ(bnorm_shifted(7, {1, 3, 3}), 3);
}

/// Doubles represent all of these values exactly, and so does their division by a power of two.
TEST(Bnorm, AgreesWithRealNumbersOverBiasScaleAndShift) {
    for (std::int64_t sum = -70000; sum <= 70000; sum += 997) {
        for (const std::int32_t bias : {-8388608, -32768, -1, 0, 5, 32767, 8388607}) {
            for (const int scale : {0, 1, 3, 128, 255}) {
                for (int shift = 0; shift < 32; ++shift) {
                    const BnormChannel channel{bias, static_cast<std::uint8_t>(scale),
                                               static_cast<std::uint8_t>(shift)};
                    const double real = std::floor(static_cast<double>(sum + bias) * scale /
                                                   std::ldexp(1.0, shift));
                    ASSERT_EQ(static_cast<double>(bnorm_shifted(sum, channel)), real);
                }
            }
        }
    }
}

TEST(Bnorm, ClipsAndCountsWhatItClipped) {
    const BnormStage stage{{BnormChannel{}}, {-2, 1}};
    ClipCounters counters;
    EXPECT_EQ(bnorm(sums_of({-3, -2, 0, 1, 2, 9}), stage, nullptr, &counters).values,
              (std::vector<std::int32_t>{-2, -2, 0, 1, 1, 1}));
    EXPECT_EQ(counters, (ClipCounters{1, 2}));
}

TEST(Bnorm, ResidualsAreAddedBehindTheTenBitClip) {
    const BnormStage stage{{BnormChannel{}}, {-1000, 1000}};
    Tensor<std::int32_t> residual({1, 1, 3});
    residual.values = {10, 20, -30};
    EXPECT_EQ(bnorm(sums_of({600, -600, 100}), stage, &residual).values,
              (std::vector<std::int32_t>{521, -492, 70}));
}

TEST(Bnorm, EveryChannelHasItsOwnConstants) {
    Tensor<std::int64_t> sums({2, 1, 1});
    sums.values = {10, 10};
    const BnormStage stage{{{1, 2, 0}, {-3, 1, 1}}, {-128, 127}};
    EXPECT_EQ(bnorm(sums, stage).values, (std::vector<std::int32_t>{22, 3}));
    EXPECT_THROW(bnorm(sums, BnormStage{{BnormChannel{}}, {}}), InternalError);
}

}  // namespace
}  // namespace npuscope
