// SPDX-License-Identifier: Apache-2.0
#include "models/pdp/pdp_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "models/base/check.h"

namespace npuscope {
namespace {

/// One window at a time, in integers, as long as no wire overflows.
class Oracle {
 public:
    Oracle(const PdpPooling& pooling, const Tensor<std::int8_t>& input)
        : pooling_(pooling), input_(input) {}

    int output(std::uint32_t c, std::uint32_t y, std::uint32_t x, std::uint32_t pad_left) const {
        int best_max = -1000;
        int best_min = 1000;
        std::int64_t sum = 0;
        int missing_rows = 0;
        for (std::uint32_t ky = 0; ky < pooling_.kernel_height; ++ky) {
            const int row = static_cast<int>(y * pooling_.stride_y + ky - pooling_.pad_top);
            if (row < 0 || row >= static_cast<int>(input_.shape.height)) {
                ++missing_rows;
                continue;
            }
            int missing = 0;
            for (std::uint32_t kx = 0; kx < pooling_.kernel_width; ++kx) {
                const int column = static_cast<int>(x * pooling_.stride_x + kx - pad_left);
                if (column < 0 || column >= static_cast<int>(input_.shape.width)) {
                    ++missing;
                    continue;
                }
                const int value = input_.at(c, static_cast<std::uint32_t>(row),
                                            static_cast<std::uint32_t>(column));
                best_max = std::max(best_max, value);
                best_min = std::min(best_min, value);
                sum += value;
            }
            sum += pooling_.pad_value[static_cast<std::size_t>(missing)];
        }
        sum += std::int64_t{pooling_.pad_value[static_cast<std::size_t>(missing_rows)]} *
               pooling_.kernel_width;
        switch (pooling_.method) {
            case PoolingMethod::Max:
                return best_max;
            case PoolingMethod::Min:
                return best_min;
            case PoolingMethod::Average:
                break;
        }
        return static_cast<int>(divide(divide(sum * pooling_.recip_width) * pooling_.recip_height));
    }

    /// By 65536, ties away from zero.
    static std::int64_t divide(std::int64_t product) {
        const std::int64_t magnitude = (std::abs(product) + 32768) / 65536;
        return product < 0 ? -magnitude : magnitude;
    }

 private:
    const PdpPooling& pooling_;
    const Tensor<std::int8_t>& input_;
};

Tensor<std::int8_t> random_tensor(const Shape& shape, std::mt19937& random) {
    Tensor<std::int8_t> tensor(shape);
    for (std::int8_t& value : tensor.values) {
        value = static_cast<std::int8_t>(random());
    }
    return tensor;
}

struct Padding {
    std::uint32_t left = 0;
    std::uint32_t right = 0;
    std::uint32_t bottom = 0;
};

std::uint32_t windows(std::uint32_t all, std::uint32_t kernel, std::uint32_t stride) {
    return (all - kernel) / stride + 1;
}

/// Random kernel, stride and padding; padding stays below the kernel.
PdpPooling random_pooling(std::mt19937& random, const Shape& input, Padding& pad) {
    PdpPooling pooling;
    const auto below = [&random](std::uint32_t limit) {
        return static_cast<std::uint32_t>(random() % limit);
    };
    pooling.kernel_width = 1 + below(std::min(8U, input.width));
    pooling.kernel_height = 1 + below(std::min(8U, input.height));
    pooling.stride_x = 1 + below(4);
    pooling.stride_y = 1 + below(4);
    pad = {below(pooling.kernel_width), below(pooling.kernel_width), below(pooling.kernel_height)};
    pooling.pad_top = below(pooling.kernel_height);
    pooling.recip_width = 65536 / pooling.kernel_width;
    pooling.recip_height = 65536 / pooling.kernel_height;
    for (std::size_t n = 1; n < 8; ++n) {
        pooling.pad_value[n] = -9 * static_cast<std::int32_t>(n);
    }
    pooling.output = {
        input.channels,
        windows(pooling.pad_top + input.height + pad.bottom, pooling.kernel_height,
                pooling.stride_y),
        windows(pad.left + input.width + pad.right, pooling.kernel_width, pooling.stride_x)};
    pooling.parts = {{0, input.width, pad.left, 0, pooling.output.width}};
    return pooling;
}

bool holds_real_windows(const PdpPooling& pooling, const Shape& input, const Padding& pad) {
    return (pooling.output.width - 1) * pooling.stride_x < pad.left + input.width &&
           (pooling.output.height - 1) * pooling.stride_y < pooling.pad_top + input.height;
}

TEST(PdpMath, EveryMethodMeetsTheOracleOverRandomWindows) {
    std::mt19937 random(17);
    for (int round = 0; round < 600; ++round) {
        const Shape shape{2, 1 + static_cast<std::uint32_t>(random() % 12),
                          1 + static_cast<std::uint32_t>(random() % 14)};
        const Tensor<std::int8_t> input = random_tensor(shape, random);
        Padding pad;
        PdpPooling pooling = random_pooling(random, shape, pad);
        if (!holds_real_windows(pooling, shape, pad)) {
            continue;
        }
        for (const PoolingMethod method :
             {PoolingMethod::Average, PoolingMethod::Max, PoolingMethod::Min}) {
            pooling.method = method;
            const Tensor<std::int8_t> output = compute_pdp(pooling, input);
            const Oracle oracle(pooling, input);
            for (std::uint32_t y = 0; y < pooling.output.height; ++y) {
                for (std::uint32_t x = 0; x < pooling.output.width; ++x) {
                    ASSERT_EQ(output.at(1, y, x), oracle.output(1, y, x, pad.left));
                }
            }
        }
    }
}

TEST(PdpMath, EverySumThatFitsIsAveragedWithTwoRoundings) {
    for (std::uint32_t kernel = 1; kernel <= 8; ++kernel) {
        const std::uint32_t recip = 65536 / kernel;
        const auto limit = static_cast<std::int32_t>(127 * kernel * kernel);
        for (std::int32_t sum = -limit; sum <= limit; ++sum) {
            const std::int64_t want =
                Oracle::divide(Oracle::divide(std::int64_t{sum} * recip) * recip);
            ASSERT_EQ(pdp_average(sum, recip, recip), want) << sum << " / " << kernel;
        }
    }
}

TEST(PdpMath, TheTwoRoundingsAreNotOne) {
    // 5 / 2 = 2.5 -> 3, 3 / 2 = 1.5 -> 2; at once 5 / 4 = 1.25 -> 1
    EXPECT_EQ(pdp_average(5, 32768, 32768), 2);
    EXPECT_EQ(pdp_average(-5, 32768, 32768), -2);
}

TEST(PdpMath, OverflowingAveragesWrapLikeTheWires) {
    EXPECT_EQ(pdp_average(255, 65536, 32768), -128);   // 127.5 is rounded up on eight bits
    EXPECT_EQ(pdp_average(200, 65536, 65536), 72);     // seven bits of a positive quotient
    EXPECT_EQ(pdp_average(-200, 65536, 65536), 56);    // eight bits of a negative one
    EXPECT_EQ(pdp_average(2047, 32768, 65536), 0);     // 1023.5 becomes 1024 = -1024 on 11 bits
    EXPECT_EQ(pdp_average(16383, 131071, 65536), -2);  // 31 bits of product: the sign turns
}

TEST(PdpMath, PadValuesEnterWithElevenAndFourteenBits) {
    PdpPooling pooling;
    pooling.method = PoolingMethod::Average;
    pooling.kernel_width = 2;
    pooling.recip_width = 65536;
    pooling.recip_height = 65536;
    pooling.output = {1, 1, 1};
    pooling.parts = {{0, 1, 1, 0, 1}};
    pooling.pad_value[1] = 2048 + 7;  // the 2048 falls off an 11-bit wire
    const Tensor<std::int8_t> input(Shape{1, 1, 1}, std::int8_t{5});
    EXPECT_EQ(compute_pdp(pooling, input).values[0], 12);
    pooling.kernel_width = 1;
    pooling.kernel_height = 2;
    pooling.pad_top = 1;
    pooling.parts = {{0, 1, 0, 0, 1}};
    pooling.pad_value[1] = 8192 + 9;  // -8183 on 14 bits; with 5 a quarter is -2044.5
    pooling.recip_width = 16384;
    EXPECT_EQ(compute_pdp(pooling, input).values[0], 3);  // -2045 on 11 bits
}

TEST(PdpMath, SlicesGiveWhatTheWholeGives) {
    std::mt19937 random(23);
    const Shape shape{3, 6, 16};
    const Tensor<std::int8_t> input = random_tensor(shape, random);
    PdpPooling pooling;
    pooling.kernel_width = 4;
    pooling.kernel_height = 2;
    pooling.stride_x = 2;
    pooling.stride_y = 2;
    pooling.pad_top = 1;
    pooling.recip_width = 16384;
    pooling.recip_height = 32768;
    pooling.output = {3, 4, 9};
    for (const PoolingMethod method :
         {PoolingMethod::Average, PoolingMethod::Max, PoolingMethod::Min}) {
        pooling.method = method;
        pooling.parts = {{0, 16, 2, 0, 9}};
        const Tensor<std::int8_t> whole = compute_pdp(pooling, input);
        pooling.parts = {{0, 2, 2, 0, 1}, {0, 14, 0, 1, 6}, {12, 4, 0, 7, 2}};
        EXPECT_EQ(compute_pdp(pooling, input), whole);
    }
}

TEST(PdpMath, AWindowOfPaddingAloneIsOurBug) {
    PdpPooling pooling;
    pooling.output = {1, 1, 1};
    pooling.kernel_width = 1;
    pooling.parts = {{0, 1, 1, 0, 1}};
    EXPECT_THROW(compute_pdp(pooling, Tensor<std::int8_t>(Shape{1, 1, 1})), InternalError);
}

}  // namespace
}  // namespace npuscope
