// SPDX-License-Identifier: Apache-2.0
// Pooling of two-byte elements against plain loops: exact sums for int16, sums rounded to 11 bits
// in the order of the hardware for fp16.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "models/arith/float16.h"
#include "models/pdp/pdp_math.h"

namespace npuscope {
namespace {

constexpr std::int16_t kNan = 0x7e01;
constexpr std::int16_t kInf = 0x7c00;

std::int16_t fp16(float value) { return static_cast<std::int16_t>(narrow(value)); }
float value_of(std::int16_t bits) { return widen(static_cast<Fp16>(bits)); }

/// 11 significant bits, ties to even; exact values far from the format's ends.
double kept(double exact) {
    if (exact == 0.0) {
        return exact;
    }
    const int grid = std::ilogb(exact) - 10;
    return std::ldexp(std::nearbyint(std::ldexp(exact, -grid)), grid);
}

/// The code of a value that fp17 can represent.
std::uint32_t code_of(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t exponent = ((bits >> 23U) & 255U) - 96U;
    return value == 0.0F ? 0U : (bits >> 31U) << 16U | exponent << 10U | ((bits >> 13U) & 1023U);
}

/// Windows of 3 x 2 with stride 2 x 1 over 7 x 4, padding of 1 on every side.
PdpPooling sample(PoolingMethod method, Precision precision) {
    PdpPooling pooling;
    pooling.method = method;
    pooling.precision = precision;
    pooling.kernel_width = 3;
    pooling.kernel_height = 2;
    pooling.stride_x = 2;
    pooling.pad_top = 1;
    pooling.output = {2, 5, 4};
    pooling.parts = {{0, 7, 1, 0, 4}};
    return pooling;
}

Tensor<std::int16_t> random_input(std::uint32_t seed, bool floats) {
    std::mt19937 random(seed);
    Tensor<std::int16_t> input(Shape{2, 4, 7});
    for (std::int16_t& element : input.values) {
        const auto number = static_cast<std::int16_t>(random());
        element = floats ? fp16(static_cast<float>(number) / 1000.0F) : number;
    }
    return input;
}

/// Calls visit(output, window rows, window columns) with the real positions of each window.
template <class Visit>
void for_each_window(const PdpPooling& pooling, Visit visit) {
    for (std::uint32_t c = 0; c < 2; ++c) {
        for (std::uint32_t y = 0; y < pooling.output.height; ++y) {
            for (std::uint32_t x = 0; x < pooling.output.width; ++x) {
                std::vector<std::uint32_t> rows;
                std::vector<std::uint32_t> columns;
                for (int k = 0; k < 2; ++k) {
                    const int row = static_cast<int>(y) + k - 1;
                    if (row >= 0 && row < 4) {
                        rows.push_back(static_cast<std::uint32_t>(row));
                    }
                }
                for (int k = 0; k < 3; ++k) {
                    const int column = 2 * static_cast<int>(x) + k - 1;
                    if (column >= 0 && column < 7) {
                        columns.push_back(static_cast<std::uint32_t>(column));
                    }
                }
                visit(std::array{c, y, x}, rows, columns);
            }
        }
    }
}

TEST(PdpWords, MaxAndMinOfInt16) {
    const Tensor<std::int16_t> input = random_input(1, false);
    for (const PoolingMethod method : {PoolingMethod::Max, PoolingMethod::Min}) {
        const PdpPooling pooling = sample(method, Precision::Int16);
        const Tensor<std::int16_t> output = compute_pdp(pooling, input);
        for_each_window(pooling, [&](auto at, const auto& rows, const auto& columns) {
            std::vector<std::int16_t> window;
            for (const std::uint32_t y : rows) {
                for (const std::uint32_t x : columns) {
                    window.push_back(input.at(at[0], y, x));
                }
            }
            const auto [low, high] = std::minmax_element(window.begin(), window.end());
            ASSERT_EQ(output.at(at[0], at[1], at[2]), method == PoolingMethod::Max ? *high : *low);
        });
    }
}

TEST(PdpWords, AveragesOfInt16AreRoundedTwice) {
    PdpPooling pooling = sample(PoolingMethod::Average, Precision::Int16);
    pooling.recip_width = 21845;
    pooling.recip_height = 32768;
    pooling.pad_value = {0, 100, 200, 300};
    const Tensor<std::int16_t> input = random_input(2, false);
    const Tensor<std::int16_t> output = compute_pdp(pooling, input);
    for_each_window(pooling, [&](auto at, const auto& rows, const auto& columns) {
        double sum = 100.0 * 3.0 * static_cast<double>(2 - rows.size());
        for (const std::uint32_t y : rows) {
            sum += 100.0 * static_cast<double>(3 - columns.size());
            for (const std::uint32_t x : columns) {
                sum += input.at(at[0], y, x);
            }
        }
        const double by_width = std::round(sum * 21845 / 65536);
        ASSERT_EQ(output.at(at[0], at[1], at[2]), std::round(by_width * 32768 / 65536));
    });
}

TEST(PdpFloats, AveragesRoundEveryStep) {
    PdpPooling pooling = sample(PoolingMethod::Average, Precision::Fp16);
    const float third = narrow_to_fp17(1.0F / 3.0F);
    pooling.recip_width = code_of(third);
    pooling.recip_height = code_of(0.5F);
    pooling.pad_value = {0, static_cast<std::int32_t>(code_of(1.25F)),
                         static_cast<std::int32_t>(code_of(2.5F)),
                         static_cast<std::int32_t>(code_of(3.75F))};
    const Tensor<std::int16_t> input = random_input(3, true);
    const Tensor<std::int16_t> output = compute_pdp(pooling, input);
    for_each_window(pooling, [&](auto at, const auto& rows, const auto& columns) {
        double sum = 0;
        for (const std::uint32_t y : rows) {
            double line = value_of(input.at(at[0], y, columns.front()));
            for (std::size_t i = 1; i < columns.size(); ++i) {
                line = kept(line + value_of(input.at(at[0], y, columns[i])));
            }
            line = kept(line + 1.25 * static_cast<double>(3 - columns.size()));
            sum = y == rows.front() ? line : kept(sum + line);
        }
        sum = kept(sum + kept(3 * 1.25 * static_cast<double>(2 - rows.size())));
        const double result = kept(kept(sum * third) * 0.5);
        ASSERT_EQ(value_of(output.at(at[0], at[1], at[2])), result);
    });
}

TEST(PdpFloats, MaxAndMinKeepInfinitiesAndHandNansOn) {
    PdpPooling pooling = sample(PoolingMethod::Max, Precision::Fp16);
    Tensor<std::int16_t> input(Shape{1, 4, 7}, fp16(-3.0F));
    input.at(0, 0, 0) = kInf;
    input.at(0, 3, 6) = kNan;
    Tensor<std::int16_t> output = compute_pdp(pooling, input);
    EXPECT_EQ(output.at(0, 0, 0), kInf);
    EXPECT_EQ(output.at(0, 2, 1), fp16(-3.0F));
    EXPECT_EQ(output.at(0, 4, 3), kNan);
    pooling.nan_to_zero = true;
    EXPECT_EQ(compute_pdp(pooling, input).at(0, 4, 3), 0);
    pooling.method = PoolingMethod::Min;
    EXPECT_EQ(compute_pdp(pooling, input).at(0, 0, 0), fp16(-3.0F));
}

TEST(PdpFloats, CodesOfFp17) {
    EXPECT_EQ(fp17_of_code(0x7c00), 1.0F);
    EXPECT_EQ(fp17_of_code(0x8200), 3.0F);
    EXPECT_EQ(fp17_of_code(0x17c00), -1.0F);
    EXPECT_EQ(fp17_of_code(0), 0.0F);
    EXPECT_EQ(fp17_of_code(0xfbff), kLargestFp17);
    EXPECT_TRUE(is_nan(fp17_of_code(0xfc01)));
}

}  // namespace
}  // namespace npuscope
