// SPDX-License-Identifier: Apache-2.0
// Normalisation of two-byte elements against plain loops over one linear table.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "models/arith/float16.h"
#include "models/cdp/cdp_lut_math.h"
#include "models/cdp/cdp_math.h"

namespace npuscope {
namespace {

constexpr std::int16_t kNan = 0x7e01;

std::int16_t fp16(double value) {
    return static_cast<std::int16_t>(narrow(static_cast<float>(value)));
}
float value_of(std::int16_t bits) { return widen(static_cast<Fp16>(bits)); }

double kept(double exact, int significant) {
    if (exact == 0.0) {
        return exact;
    }
    const int grid = std::ilogb(exact) - significant + 1;
    return std::ldexp(std::nearbyint(std::ldexp(exact, -grid)), grid);
}
double kept17(double exact) { return kept(exact, 11); }
double kept32(double exact) { return kept(exact, 24); }

/// LO answers everything: 256 entries of 2 over [0, 512).
CdpNormalization sample(std::uint32_t size) {
    CdpNormalization normalization;
    normalization.precision = Precision::Fp16;
    normalization.channels = 20;
    normalization.local_size = size;
    LookupConfig& lut = normalization.lut;
    lut.le_function = LeFunction::Linear;
    lut.le.start = std::bit_cast<std::uint32_t>(1e9F);
    lut.lo = {std::bit_cast<std::int32_t>(0.0F), std::bit_cast<std::int32_t>(512.0F), 1, {}, {}};
    lut.underflow_priority = lut.overflow_priority = lut.hybrid_priority = LookupTable::Lo;
    return normalization;
}

LookupTables decreasing() {
    LookupTables tables;
    for (std::size_t i = 0; i < tables.lo.size(); ++i) {
        tables.lo[i] = fp16(1.0 / (1.0 + static_cast<double>(i)));
    }
    return tables;
}

Tensor<std::int16_t> random_input() {
    std::mt19937 random(9);
    Tensor<std::int16_t> input(Shape{32, 2, 3});
    for (std::int16_t& element : input.values) {
        element = fp16(static_cast<double>(random() % 2000) / 400.0 - 2.5);
    }
    return input;
}

TEST(CdpFloats, SquaresAreSummedInPairsFromTheCentre) {
    const Tensor<std::int16_t> input = random_input();
    const LookupTables tables = decreasing();
    for (const std::uint32_t size : {3U, 5U, 7U, 9U}) {
        const CdpNormalization normalization = sample(size);
        const CdpResult result = compute_cdp(normalization, input, tables);
        const auto& output = std::get<Tensor<std::int16_t>>(result.values);
        for (std::uint32_t c = 0; c < 20; ++c) {
            for (std::uint32_t x = 0; x < 3; ++x) {
                const auto square = [&](int channel) {
                    if (channel < 0 || channel >= 20) {
                        return 0.0;
                    }
                    const double v = value_of(input.at(static_cast<std::uint32_t>(channel), 1, x));
                    return kept32(v * v);
                };
                const int center = static_cast<int>(c);
                double sum =
                    kept32(kept32(square(center - 1) + square(center + 1)) + square(center));
                for (int d = 2; d <= static_cast<int>(size) / 2; ++d) {
                    sum = kept32(sum + kept32(square(center - d) + square(center + d)));
                }
                const double place = sum / 2;
                const auto index = static_cast<std::size_t>(place);
                const double fraction =
                    std::floor((place - static_cast<double>(index)) * 65536) / 65536;
                const double y0 = value_of(tables.lo[index]);
                const double rise = kept17(kept32(value_of(tables.lo[index + 1]) - y0));
                const double found = kept17(kept17(rise * kept17(fraction)) + y0);
                const double product = kept17(found * value_of(input.at(c, 1, x)));
                ASSERT_EQ(output.at(c, 1, x), fp16(product)) << c << ' ' << x << ' ' << size;
            }
        }
    }
}

TEST(CdpFloats, NansPassTheProductOrAreFlushed) {
    CdpNormalization normalization = sample(3);
    normalization.multiply_bypass = true;
    Tensor<std::int16_t> input(Shape{32, 1, 1}, fp16(1.0));
    input.at(7, 0, 0) = kNan;
    const CdpResult result = compute_cdp(normalization, input, decreasing());
    const auto& output = std::get<Tensor<std::int16_t>>(result.values);
    EXPECT_EQ(output.at(7, 0, 0), kNan);
    EXPECT_EQ(output.at(6, 0, 0), kNan);  // its sum has a NaN, which is below the tables
    EXPECT_EQ(result.counters.nan_outputs, 3U);
    normalization.nan_to_zero = true;
    const CdpResult flushed = compute_cdp(normalization, input, decreasing());
    EXPECT_EQ(flushed.counters.nan_outputs, 0U);
}

TEST(CdpWords, Int16HasWideWires) {
    CdpNormalization normalization = sample(3);
    normalization.precision = Precision::Int16;
    normalization.input = {100, 2, 1};
    normalization.output = {-7, 3, 9};
    normalization.lut.le.start = std::int64_t{1} << 36U;
    normalization.lut.lo = {0, std::int64_t{1} << 32U, 24, {}, {}};
    std::mt19937 random(5);
    Tensor<std::int16_t> input(Shape{16, 1, 5});
    normalization.channels = 16;
    for (std::int16_t& element : input.values) {
        element = static_cast<std::int16_t>(random());
    }
    LookupTables tables;
    for (std::size_t i = 0; i < tables.lo.size(); ++i) {
        tables.lo[i] = static_cast<std::int16_t>(3 * i + 5);
    }
    const CdpResult result = compute_cdp(normalization, input, tables);
    const auto& output = std::get<Tensor<std::int16_t>>(result.values);
    for (std::uint32_t c = 1; c < 15; ++c) {
        for (std::uint32_t x = 0; x < 5; ++x) {
            const auto converted = [&](std::uint32_t channel) {
                return std::int64_t{input.at(channel, 0, x)} - 100;
            };
            std::int64_t sum = 0;
            for (const std::uint32_t channel : {c - 1, c, c + 1}) {
                sum += converted(channel) * converted(channel);
            }
            if (sum == 0 || sum >= std::int64_t{1} << 32U) {
                continue;
            }
            const std::int64_t index = sum >> 24U;
            const std::int64_t fraction = (sum >> 8U) & 0xffff;
            const double found = static_cast<double>(3 * index + 5) +
                                 std::round(3.0 * static_cast<double>(fraction) / 65536.0);
            const double product = found * static_cast<double>(converted(c));
            const double scaled = std::round((product + 7) * 3 / 512);
            ASSERT_EQ(output.at(c, 0, x), std::min(32767.0, std::max(-32768.0, scaled)));
        }
    }
}

TEST(CdpWords, SelectsOfSevenBitsAndStartsOf38) {
    LookupConfig lut;
    lut.le_function = LeFunction::Linear;
    lut.le = {-(std::int64_t{1} << 36U), 0, 31, {}, {}};
    EXPECT_EQ(cdp_lut_index(std::int64_t{0}, LookupTable::Le, lut).index, 32U);
    lut.le.index_select = -40;
    EXPECT_EQ(cdp_lut_index(std::int64_t{0}, LookupTable::Le, lut).hit, LookupHit::Overflow);
    lut.le_function = LeFunction::Exponent;
    lut.le = {0, 0, 0, {}, {}};
    const LookupIndex place = cdp_lut_index(std::int64_t{3} << 35U, LookupTable::Le, lut);
    EXPECT_EQ(place.index, 36U);
    EXPECT_EQ(place.fraction, std::uint64_t{1} << 15U);
}

}  // namespace
}  // namespace npuscope
