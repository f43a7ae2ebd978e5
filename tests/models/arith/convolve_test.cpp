// SPDX-License-Identifier: Apache-2.0
#include "models/arith/convolve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace npuscope {
namespace {

class ConvolveTest : public testing::Test {
 protected:
    std::uint32_t below(std::uint32_t limit) {
        return static_cast<std::uint32_t>(random_() % limit);
    }
    std::uint32_t upto(std::uint32_t limit) { return 1 + below(limit); }

    template <class T>
    void fill(std::vector<T>& values) {
        for (T& value : values) {
            value = static_cast<T>(random_());
        }
    }
    /// Values at the limits: the sums become as large as they can.
    void fill_extremes(std::vector<std::int8_t>& values) {
        for (std::int8_t& value : values) {
            value = random_() % 8 == 0 ? std::int8_t{127} : std::int8_t{-128};
        }
    }

    /// A geometry in which some window overlaps the data, padding on every side.
    Convolution any_geometry(const Shape& data, const KernelShape& kernels) {
        Convolution geometry;
        geometry.stride_y = upto(4);
        geometry.stride_x = upto(4);
        geometry.dilation_y = upto(3);
        geometry.dilation_x = upto(3);
        geometry.pad_top = below(4);
        geometry.pad_left = below(4);
        geometry.pad_value = static_cast<std::int8_t>(random_());
        const std::uint32_t span_y = dilated_span(kernels.rows, geometry.dilation_y);
        const std::uint32_t span_x = dilated_span(kernels.columns, geometry.dilation_x);
        const std::uint32_t height = data.height + geometry.pad_top + below(4);
        const std::uint32_t width = data.width + geometry.pad_left + below(4);
        geometry.out_height = height < span_y ? 1 : (height - span_y) / geometry.stride_y + 1;
        geometry.out_width = width < span_x ? 1 : (width - span_x) / geometry.stride_x + 1;
        return geometry;
    }

    static void expect_equal(const Tensor<std::int32_t>& fast, const Tensor<std::int64_t>& plain) {
        ASSERT_EQ(fast.shape, plain.shape);
        for (std::size_t i = 0; i < fast.values.size(); ++i) {
            ASSERT_EQ(fast.values[i], plain.values[i]) << "element " << i;
        }
    }

    std::mt19937 random_{20};
};

TEST_F(ConvolveTest, FastKernelsAgreeWithTheOracleOverRandomShapes) {
    for (int round = 0; round < 400; ++round) {
        Tensor<std::int8_t> data({upto(19), upto(24), upto(40)});
        Kernels<std::int8_t> kernels({upto(10), data.shape.channels, upto(5), upto(5)});
        fill(data.values);
        fill(kernels.values);
        const Convolution geometry = any_geometry(data.shape, kernels.shape);
        expect_equal(convolve(data, kernels, geometry), convolve_plain(data, kernels, geometry));
        if (HasFatalFailure()) {
            FAIL() << "round " << round;
        }
    }
}

TEST_F(ConvolveTest, LargestProductsDoNotOverflow) {
    Tensor<std::int8_t> data({512, 9, 9});
    Kernels<std::int8_t> kernels({5, 512, 3, 3});
    fill_extremes(data.values);
    fill_extremes(kernels.values);
    for (const std::uint32_t out : {1U, 9U}) {
        const Convolution geometry{out, out, 1, 1, 1, 1, 1, 1, -128};
        expect_equal(convolve(data, kernels, geometry), convolve_plain(data, kernels, geometry));
    }
}

TEST_F(ConvolveTest, SumsBeyond32BitsAreExact) {
    const Tensor<std::int8_t> data({9000, 4, 4}, -128);
    const Kernels<std::int8_t> kernels({2, 9000, 4, 4}, -128);
    const Tensor<std::int64_t> sums = convolve_wide(data, kernels, {});
    EXPECT_EQ(sums.at(1, 0, 0), std::int64_t{9000} * 16 * 16384);
    EXPECT_FALSE(sums_fit_32_bits(kernels.shape));
    EXPECT_EQ(partial_sum_bound(kernels), sums.at(1, 0, 0));
}

TEST_F(ConvolveTest, TwoByteElementsHaveAnOracle) {
    Tensor<std::int16_t> data({2, 1, 2}, -32768);
    const Kernels<std::int16_t> kernels({1, 2, 1, 2}, -32768);
    EXPECT_EQ(convolve_plain(data, kernels, {}).at(0, 0, 0), std::int64_t{4} << 30);
}

TEST_F(ConvolveTest, AWideEnoughAccumulatorChangesNothing) {
    Tensor<std::int8_t> data({11, 6, 7});
    Kernels<std::int8_t> kernels({3, 11, 3, 2});
    fill(data.values);
    fill(kernels.values);
    const Convolution geometry = any_geometry(data.shape, kernels.shape);
    EXPECT_EQ(convolve_saturating(data, kernels, geometry, {{8}, 34}),
              convolve_plain(data, kernels, geometry));
}

TEST_F(ConvolveTest, ANarrowAccumulatorSaturatesBlockByBlockInOrder) {
    // Blocks of one channel: +16384 twice, then -16256 once. At 16 bits: 16384, 32767, 16511.
    Tensor<std::int8_t> data({3, 1, 1}, -128);
    Kernels<std::int8_t> kernels({1, 3, 1, 1}, -128);
    kernels.at(0, 2, 0, 0) = 127;
    EXPECT_EQ(convolve_saturating(data, kernels, {}, {{1}, 16}).at(0, 0, 0), 32767 - 16256);
    // One block of three channels: the sum fits, nothing saturates.
    EXPECT_EQ(convolve_saturating(data, kernels, {}, {{3}, 16}).at(0, 0, 0), 2 * 16384 - 16256);
}

TEST_F(ConvolveTest, BlocksAreTakenChannelBlockThenRowThenColumn) {
    // Channel-block order saturates (three large terms first); tap order would not.
    Tensor<std::int8_t> data({2, 1, 3}, -128);
    Kernels<std::int8_t> kernels({1, 2, 1, 3});
    for (std::uint32_t s = 0; s < 3; ++s) {
        kernels.at(0, 0, 0, s) = -128;
        kernels.at(0, 1, 0, s) = 127;
    }
    EXPECT_EQ(convolve_saturating(data, kernels, {}, {{1}, 16}).at(0, 0, 0), 32767 - 3 * 16256);
}

TEST_F(ConvolveTest, SixteenBitKernelsAgreeWithTheOracleOverRandomShapes) {
    for (int round = 0; round < 60; ++round) {
        Tensor<std::int16_t> data({upto(90), upto(9), upto(12)});
        Kernels<std::int16_t> kernels({upto(9), data.shape.channels, upto(4), upto(4)});
        fill(data.values);
        fill(kernels.values);
        if (round % 3 == 0) {  // the largest sums
            std::ranges::fill(data.values, std::int16_t{-32768});
            std::ranges::fill(kernels.values,
                              round % 2 == 0 ? std::int16_t{-32768} : std::int16_t{32767});
        }
        const Convolution geometry = any_geometry(data.shape, kernels.shape);
        ASSERT_EQ(convolve_wide(data, kernels, geometry), convolve_plain(data, kernels, geometry))
            << "round " << round;
    }
}

}  // namespace
}  // namespace npuscope
