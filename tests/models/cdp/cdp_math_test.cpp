// SPDX-License-Identifier: Apache-2.0
#include "models/cdp/cdp_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "models/base/check.h"
#include "models/cdp/cdp_lut_math.h"

namespace npuscope::cdp_math_test {
namespace {

std::int64_t half_away(std::int64_t value, unsigned shift) {
    const std::int64_t magnitude =
        (std::abs(value) + ((std::int64_t{1} << shift) >> 1)) / (std::int64_t{1} << shift);
    return value < 0 ? -magnitude : magnitude;
}

std::int64_t converted(std::int64_t x, const Conversion& conversion) {
    return std::clamp<std::int64_t>(
        half_away((x - conversion.offset) * conversion.scale, conversion.shift), -256, 255);
}

LookupTables ramp() {
    LookupTables tables;
    for (std::size_t i = 0; i < tables.lo.size(); ++i) {
        tables.lo[i] = static_cast<std::int16_t>(3 * static_cast<int>(i) - 200);
    }
    return tables;
}

CdpNormalization plain() {
    CdpNormalization normalization;
    normalization.channels = 16;
    normalization.lut.lo.start = -1;
    normalization.lut.lo.index_select = 11;
    normalization.lut.hybrid_priority = LookupTable::Lo;
    normalization.lut.underflow_priority = LookupTable::Lo;
    normalization.lut.overflow_priority = LookupTable::Lo;
    normalization.lut.le.start = 1 << 20;  // LE always underflows
    normalization.output = {0, 1, 8};
    return normalization;
}

Tensor<std::int8_t> random_tensor(const Shape& shape) {
    std::mt19937 random(31);
    Tensor<std::int8_t> tensor(shape);
    for (std::int8_t& value : tensor.values) {
        value = static_cast<std::int8_t>(random());
    }
    return tensor;
}

/// Element by element, neighbours outside of the real channels counting as 0.
std::int64_t expected(const CdpNormalization& n, const Tensor<std::int8_t>& input,
                      const LookupTables& tables, std::uint32_t c, std::uint32_t x) {
    const auto value_of = [&](int channel) -> std::int64_t {
        const bool real = channel >= 0 && channel < static_cast<int>(n.channels);
        return real ? converted(input.at(static_cast<std::uint32_t>(channel), 0, x), n.input) : 0;
    };
    const int reach = static_cast<int>(n.local_size) / 2;
    std::int64_t sum = 0;
    for (int d = -reach; d <= reach; ++d) {
        const std::int64_t neighbour = value_of(static_cast<int>(c) + d);
        sum += neighbour * neighbour;
    }
    const std::int64_t center = value_of(static_cast<int>(c));
    LookupCounters counters;
    const std::int64_t answer = cdp_lookup(
        static_cast<std::int32_t>(n.square_sum_bypass ? center : sum), n.lut, tables, counters);
    const std::int64_t product = n.multiply_bypass ? answer : answer * center;
    return std::clamp<std::int64_t>(
        half_away((product - n.output.offset) * n.output.scale, n.output.shift), -128, 127);
}

const Tensor<std::int8_t>& bytes_of_result(const CdpResult& result) {
    return std::get<Tensor<std::int8_t>>(result.values);
}

void check(const CdpNormalization& normalization, const Tensor<std::int8_t>& input) {
    const LookupTables tables = ramp();
    const CdpResult result = compute_cdp(normalization, input, tables);
    for (std::uint32_t c = 0; c < input.shape.channels; ++c) {
        for (std::uint32_t x = 0; x < input.shape.width; ++x) {
            ASSERT_EQ(bytes_of_result(result).at(c, 0, x),
                      expected(normalization, input, tables, c, x));
        }
    }
}

TEST(CdpMath, EveryLocalSizeSumsItsNeighbours) {
    const Tensor<std::int8_t> input = random_tensor(Shape{16, 1, 400});
    for (const std::uint32_t size : {3U, 5U, 7U, 9U}) {
        CdpNormalization normalization = plain();
        normalization.local_size = size;
        check(normalization, input);
    }
}

TEST(CdpMath, BothBypassesMeetTheOracle) {
    const Tensor<std::int8_t> input = random_tensor(Shape{16, 1, 300});
    CdpNormalization normalization = plain();
    normalization.lut.lo.index_select = 1;
    normalization.lut.lo.start = -200;
    normalization.square_sum_bypass = true;
    check(normalization, input);
    normalization.multiply_bypass = true;
    normalization.output = {11, -3, 2};
    check(normalization, input);
    normalization.square_sum_bypass = false;
    check(normalization, input);
}

TEST(CdpMath, PadLanesAndChannelsBeyondTheCubeCountAsZero) {
    CdpNormalization normalization = plain();
    normalization.channels = 11;
    normalization.local_size = 9;
    check(normalization, random_tensor(Shape{16, 1, 100}));
    normalization.multiply_bypass = true;
    normalization.output = {-40, 1, 0};
    check(normalization, random_tensor(Shape{16, 1, 100}));
}

TEST(CdpMath, EveryInputPassesTheConvertorLikeTheOracle) {
    for (const Conversion& conversion :
         {Conversion{0, 1, 0}, Conversion{-128, 1, 0}, Conversion{127, -32768, 7},
          Conversion{5, 300, 24}, Conversion{-3, 77, 6}}) {
        for (int x = -128; x < 128; ++x) {
            ASSERT_EQ(cdp_convert_input(static_cast<std::int8_t>(x), conversion),
                      converted(x, conversion));
        }
    }
}

TEST(CdpMath, ConvertorsSeeTheLowBitsOfTheirOffsets) {
    EXPECT_EQ(cdp_convert_input(10, {256 + 3, 1, 0}), 7);
    EXPECT_EQ(cdp_convert_input(10, {0xff, 1, 0}), 11);
    EXPECT_EQ(cdp_convert_input(10, {0, 1, 25}), 0);  // a shift by the width gives 0
    CdpNormalization normalization = plain();
    normalization.multiply_bypass = true;
    normalization.output = {1 << 25, 1, 0};
    const LookupTables tables;
    const CdpResult result =
        compute_cdp(normalization, Tensor<std::int8_t>(Shape{16, 1, 1}), tables);
    EXPECT_EQ(bytes_of_result(result).values[0], 0);
}

TEST(CdpMath, TheSquareOfTheMostNegativeValueIsWhole) {
    CdpNormalization normalization = plain();
    normalization.input = {127, 2, 0};  // -128 becomes -510, cut to -256
    normalization.local_size = 9;
    check(normalization, Tensor<std::int8_t>(Shape{16, 1, 2}, std::int8_t{-128}));
}

TEST(CdpMath, OutputSaturationIsCounted) {
    CdpNormalization normalization = plain();
    normalization.multiply_bypass = true;
    normalization.output = {0, 1, 0};
    const CdpResult result =
        compute_cdp(normalization, Tensor<std::int8_t>(Shape{16, 1, 1}, std::int8_t{-1}), ramp());
    EXPECT_EQ(result.counters.saturated, 16U);  // the ramp begins at -200
}

TEST(CdpMath, FewerLanesThanChannelsAreOurBug) {
    EXPECT_THROW(compute_cdp(plain(), Tensor<std::int8_t>(Shape{8, 1, 1}), {}), InternalError);
}

}  // namespace
}  // namespace npuscope::cdp_math_test
