// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu_math.h"

#include <gtest/gtest.h>

#include "models/tinpu/tinpu_job.h"

namespace npuscope {
namespace {

TEST(TinpuConstants, ARowHoldsBiasScaleAndShift) {
    const std::vector<BnormChannel> channels{{-3, 7, 31}, {1 << 23, 255, 0}};
    const std::vector<std::uint8_t> bytes = store_constants(channels);
    EXPECT_EQ(bytes,
              (std::vector<std::uint8_t>{0xfd, 0xff, 0xff, 0xff, 7, 31, 0, 0, 0x80, 0, 255, 0}));
    EXPECT_EQ(load_constants(bytes), channels);
}

TEST(TinpuMath, PoolTiesRoundToEvenOrUp) {
    TinpuJob job;
    job.work = TinpuWork::AveragePool;
    job.input.shape = {1, 1, 2};
    job.output.shape = {1, 1, 1};
    job.rows = 1;
    job.columns = 3;  // one tap is in the padding: sum * 3 / 2
    job.geometry.pad_left = 1;
    Tensor<std::int32_t> input(job.input.shape);
    const auto sum = [&](std::int32_t a, HalfRounding rounding) {
        input.values = {a, 0};
        job.rounding = rounding;
        return tinpu_pool_sums(job, input).values.front();
    };
    EXPECT_EQ(sum(1, HalfRounding::Even), 2);  // 1.5
    EXPECT_EQ(sum(3, HalfRounding::Even), 4);  // 4.5
    EXPECT_EQ(sum(3, HalfRounding::Up), 5);
    EXPECT_EQ(sum(-1, HalfRounding::Even), -2);  // -1.5
    EXPECT_EQ(sum(-1, HalfRounding::Up), -1);
    EXPECT_EQ(sum(2, HalfRounding::Even), 3);
    job.count_padding = true;
    EXPECT_EQ(sum(3, HalfRounding::Even), 3);
}

}  // namespace
}  // namespace npuscope
