// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/grid.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <cmath>

#include "sim/quantise/value_histogram.h"

namespace npuscope {
namespace {

using ::testing::ElementsAre;

TEST(GridOfRange, HoldsZeroExactlyAndBothEnds) {
    for (const NumberRange& range : {NumberRange{-1, 3}, NumberRange{0, 6}, NumberRange{2, 5},
                                     NumberRange{-7, -3}, NumberRange{0, 0}}) {
        const Grid grid = grid_of(range);
        EXPECT_EQ(grid.zero, std::nearbyint(grid.zero));
        EXPECT_EQ(on_grid(grid, 0), 0);
        EXPECT_NEAR(on_grid(grid, std::max(range.high, 0.0)), std::max(range.high, 0.0),
                    grid.scale);
        EXPECT_NEAR(on_grid(grid, std::min(range.low, 0.0)), std::min(range.low, 0.0), grid.scale);
    }
    EXPECT_EQ(grid_of({0, 6}).zero, -128);  // a ReLU needs no clip
}

TEST(QuantiseWeights, HasAScalePerKernelAndRespectsTheLeastOne) {
    GraphValue weights = zeros({ElementType::Float32, {2, 2}});
    weights.numbers = {0.5, -1, 0.125, 0.25};
    const QuantisedWeights rows = quantise_weights(weights, 0);
    EXPECT_THAT(rows.integers.numbers, ElementsAre(64, -127, 64, 127));
    EXPECT_NEAR(rows.scales[1], 0.25 / 127, 1e-8);
    EXPECT_THAT(quantise_weights(weights, 1).integers.numbers, ElementsAre(127, -127, 32, 32));
    EXPECT_EQ(quantise_weights(weights, -1).scales.size(), 1U);
    EXPECT_THAT(quantise_weights(weights, 0, {1, 0.125}).integers.numbers,
                ElementsAre(0, -1, 1, 2));
}

TEST(ValueHistogram, RangesCoverAllMostOrWhatCostsLeast) {
    ValueHistogram histogram;
    std::vector<double> numbers(200'000);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = std::sin(static_cast<double>(i));
    }
    histogram.add(numbers);
    histogram.add({40, -0.25, INFINITY, NAN});
    EXPECT_EQ(histogram.range(RangeMethod::Minmax).high, 40);
    EXPECT_NEAR(histogram.range(RangeMethod::Percentile).high, 1, 0.05);
    EXPECT_LT(histogram.range(RangeMethod::Mse).high, 35);
    EXPECT_NEAR(histogram.range(RangeMethod::Mse).low, -1, 0.3);
}

TEST(ValueHistogram, OfNothingOrOfOneNumberIsARange) {
    EXPECT_EQ(ValueHistogram().range(RangeMethod::Mse), (NumberRange{0, 0}));
    for (const double number : {0.0, 1e-30, -3.0, 1e30}) {
        ValueHistogram histogram;
        histogram.add({number});
        EXPECT_EQ(histogram.range(RangeMethod::Minmax), (NumberRange{number, number}));
        EXPECT_LE(histogram.range(RangeMethod::Mse).low, histogram.range(RangeMethod::Mse).high);
    }
}

}  // namespace
}  // namespace npuscope
