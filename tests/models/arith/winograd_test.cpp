// SPDX-License-Identifier: Apache-2.0
#include "models/arith/winograd.h"

#include <gtest/gtest.h>

#include <random>

#include "models/arith/convolve.h"
#include "models/arith/float16.h"

namespace npuscope {
namespace {

/// G w G^T of kernels that are multiples of four, so that nothing is lost.
template <class T>
Kernels<T> transformed(const Kernels<T>& kernels) {
    constexpr int kTwiceG[4][3] = {{2, 0, 0}, {1, 1, 1}, {1, -1, 1}, {0, 0, 2}};
    Kernels<T> result({kernels.shape.kernels, kernels.shape.channels, 4, 4});
    for (std::uint32_t k = 0; k < kernels.shape.kernels; ++k) {
        for (std::uint32_t c = 0; c < kernels.shape.channels; ++c) {
            for (std::uint32_t i = 0; i < 16; ++i) {
                int sum = 0;
                for (std::uint32_t tap = 0; tap < 9; ++tap) {
                    sum += kTwiceG[i / 4][tap / 3] * kTwiceG[i % 4][tap % 3] *
                           kernels.at(k, c, tap / 3, tap % 3);
                }
                result.at(k, c, i / 4, i % 4) = static_cast<T>(sum / 4);
            }
        }
    }
    return result;
}

template <class T>
void expect_direct_equals_winograd(int data_limit, int weight_limit) {
    std::mt19937 random(3);
    const auto draw = [&](int limit) {
        return static_cast<int>(random() % static_cast<unsigned>(2 * limit + 1)) - limit;
    };
    for (int round = 0; round < 20; ++round) {
        Tensor<T> data({1 + static_cast<std::uint32_t>(random() % 40), 8, 12});
        Kernels<T> kernels(
            {1 + static_cast<std::uint32_t>(random() % 9), data.shape.channels, 3, 3});
        for (T& x : data.values) {
            x = static_cast<T>(draw(data_limit));
        }
        for (T& w : kernels.values) {
            w = static_cast<T>(4 * draw(weight_limit));
        }
        const Convolution geometry{.out_height = 6, .out_width = 10};
        const auto direct = convolve_plain(data, kernels, geometry);
        EXPECT_EQ(convolve_winograd(data, transformed(kernels), geometry, 0), direct);
    }
}

TEST(WinogradTest, EqualsDirectConvolutionWhereNothingIsCut) {
    expect_direct_equals_winograd<std::int8_t>(31, 3);
    expect_direct_equals_winograd<std::int16_t>(8000, 500);
}

TEST(WinogradTest, TruncatesPatchesHalfAwayFromZeroAndSaturates) {
    Tensor<std::int8_t> data({1, 4, 4}, 0);
    data.at(0, 1, 1) = 127;
    data.at(0, 2, 2) = 127;
    data.at(0, 0, 0) = 3;
    const auto exact = transform_patches(data, {1, 1}, 0);
    EXPECT_EQ(exact[0].at(0, 0, 0), 127);  // 3 + 127 does not fit
    EXPECT_EQ(exact[5].at(0, 0, 0), 127);  // 127 + 127 does not fit
    const auto halved = transform_patches(data, {1, 1}, 1);
    EXPECT_EQ(halved[0].at(0, 0, 0), 65);   // 130 / 2
    EXPECT_EQ(halved[1].at(0, 0, 0), -64);  // -127 / 2, tie away from zero
}

TEST(WinogradTest, FloatingPointAgreesWithDirectConvolutionOnSmallIntegers) {
    std::mt19937 random(5);
    Tensor<std::int16_t> data({20, 8, 8});
    Kernels<std::int16_t> kernels({5, 20, 3, 3});
    Kernels<std::int16_t> bits(kernels.shape);
    for (std::int16_t& x : data.values) {
        x = static_cast<std::int16_t>(narrow(static_cast<float>(random() % 9) - 4.0F));
    }
    for (std::size_t i = 0; i < kernels.values.size(); ++i) {
        const int w = 4 * (static_cast<int>(random() % 7) - 3);
        kernels.values[i] = static_cast<std::int16_t>(w);
        bits.values[i] = static_cast<std::int16_t>(narrow(static_cast<float>(w)));
    }
    Kernels<std::int16_t> patches = transformed(kernels);
    for (std::int16_t& w : patches.values) {
        w = static_cast<std::int16_t>(narrow(static_cast<float>(w)));
    }
    const Convolution geometry{.out_height = 6, .out_width = 6};
    EXPECT_EQ(convolve_winograd_fp16(data, patches, geometry),
              convolve_fp16(data, bits, geometry, {}));
}

}  // namespace
}  // namespace npuscope
