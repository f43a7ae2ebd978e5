// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "models/arith/winograd.h"

namespace npuscope {
namespace {

Kernels<double> random_kernels(const KernelShape& shape) {
    std::mt19937 random(4);
    Kernels<double> kernels(shape);
    for (double& value : kernels.values) {
        value = static_cast<double>(random() % 64) - 32;
    }
    return kernels;
}

TEST(WinogradWeights, ConvolvingTransformedIsConvolving) {
    // F(2x2, 3x3): Y = A^T ((G w G^T) . (B^T d B)) A. source: Lavin and Gray, 2015
    const Kernels<double> kernel = random_kernels({1, 1, 3, 3});
    const Kernels<double> u = to_winograd(kernel);
    const Kernels<double> image = random_kernels({1, 1, 4, 4});
    const auto b = [](double x0, double x1, double x2, double x3) {
        return std::array<double, 4>{x0 - x2, x1 + x2, x2 - x1, x1 - x3};
    };
    double columns[4][4], v[4][4];
    for (std::uint32_t s = 0; s < 4; ++s) {
        const auto column = b(image.at(0, 0, 0, s), image.at(0, 0, 1, s), image.at(0, 0, 2, s),
                              image.at(0, 0, 3, s));
        for (std::size_t r = 0; r < 4; ++r) {
            columns[r][s] = column[r];
        }
    }
    for (std::size_t r = 0; r < 4; ++r) {
        const auto row = b(columns[r][0], columns[r][1], columns[r][2], columns[r][3]);
        for (std::size_t s = 0; s < 4; ++s) {
            v[r][s] =
                row[s] * u.at(0, 0, static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(s));
        }
    }
    double first = 0;  // output (0, 0): ones of A^T over the first three of each
    for (std::size_t r = 0; r < 3; ++r) {
        first += v[r][0] + v[r][1] + v[r][2];
    }
    double expected = 0;
    for (std::uint32_t r = 0; r < 3; ++r) {
        for (std::uint32_t s = 0; s < 3; ++s) {
            expected += image.at(0, 0, r, s) * kernel.at(0, 0, r, s);
        }
    }
    EXPECT_DOUBLE_EQ(first, expected);
}

TEST(WinogradWeights, KernelsComeBack) {
    const Kernels<double> kernels = random_kernels({3, 5, 3, 3});
    EXPECT_EQ(from_winograd(to_winograd(kernels)).values, kernels.values);
}

TEST(WinogradWeights, StridedKernelsSpreadOverChannels) {
    const Kernels<double> kernels = random_kernels({2, 3, 5, 6});
    const Kernels<double> extended = extend_for_winograd(kernels, {2, 2, 4});
    EXPECT_EQ(extended.shape, (KernelShape{2, 16, 3, 3}));
    EXPECT_EQ(extended.at(1, (1 * 2 + 0) * 4 + 2, 1, 2), kernels.at(1, 2, 3, 4));
    EXPECT_EQ(extended.at(1, (1 * 2 + 0) * 4 + 2, 2, 2), 0);  // row 5 does not exist
    EXPECT_EQ(extended.at(0, 3, 0, 0), 0);                    // an appended channel
}

}  // namespace
}  // namespace npuscope
