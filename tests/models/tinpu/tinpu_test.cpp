// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu.h"

#include <gtest/gtest.h>

#include "models/data/packed_surface.h"
#include "models/tinpu/tinpu_math.h"

namespace npuscope {
namespace {

/// 1x1 convolution of 4 channels to 4 kernels on a map of 2x3.
TinpuJob pointwise_job() {
    TinpuJob job;
    job.input = {Address(0), {4, 2, 3}, true};
    job.output = {Address(256), {4, 2, 3}, true};
    job.weights = WeightSurface{Address(512), {4, 4, 1, 1}, 8};
    job.constants = Address(768);
    job.geometry.out_height = 2;
    job.geometry.out_width = 3;
    job.clip = {-128, 127};
    return job;
}

TEST(Tinpu, LayersReadAndWriteMemory) {
    SparseMemory memory;
    const TinpuJob job = pointwise_job();
    Tensor<std::int32_t> map(job.input.shape);
    for (std::size_t i = 0; i < map.values.size(); ++i) {
        map.values[i] = static_cast<std::int32_t>(i) - 12;
    }
    Kernels<std::int8_t> identity(job.weights->shape);
    for (std::uint32_t k = 0; k < 4; ++k) {
        identity.at(k, k, 0, 0) = 2;
    }
    memory.write(job.input.base, store_map(map));
    memory.write(job.weights->base, store_weights(identity, 8));
    memory.write(*job.constants, store_constants({4, BnormChannel{-3, 1, 1}}));
    Tinpu engine({}, memory);
    const TinpuRecord record = engine.launch(job);
    std::vector<std::uint8_t> bytes(24);
    memory.read(job.output.base, bytes);
    const Tensor<std::int32_t> result = load_map(bytes, job.output.shape, true);
    for (std::size_t i = 0; i < map.values.size(); ++i) {
        EXPECT_EQ(result.values[i], (2 * map.values[i] - 3) >> 1);
    }
    EXPECT_EQ(engine.now(), record.end());
    EXPECT_EQ(engine.launch(job, false).start, record.end());
}

TEST(TinpuTiming, TheLongerOfComputeAndMemoryCounts) {
    TinpuConfig config;
    config.cycles_per_100_steps = 200;
    config.cycles_per_100_weight_bytes = 300;
    config.layer_overhead = Cycles(1000);
    const TinpuJob job = pointwise_job();
    TinpuCycles cycles = tinpu_cycles(job, config);
    EXPECT_EQ(cycles.compute, Cycles(48));  // 6 places x 4 channels in steps of 2 cycles
    EXPECT_EQ(cycles.memory, Cycles(18));   // 2 x 24 + 4 x 6 bytes, 4 a cycle
    EXPECT_EQ(cycles.weights, Cycles(48));
    EXPECT_EQ(cycles.total(), Cycles(1096));
    EXPECT_EQ(cycles.bound_by(), "set_up");
    config.bus_width = Bytes(1);
    config.layer_overhead = Cycles(0);
    cycles = tinpu_cycles(job, config);
    EXPECT_EQ(cycles.total(), Cycles(48 + 72));
    EXPECT_EQ(cycles.bound_by(), "memory");
}

TEST(TinpuTiming, NarrowWeightsMoveFewerBytes) {
    TinpuJob job = pointwise_job();
    const Bytes wide = tinpu_traffic(job).read;
    job.weights->bits = 2;
    EXPECT_EQ(wide - tinpu_traffic(job).read, Bytes(12));
}

TEST(TinpuMath, PoolTiesRoundToEvenOrUp) {
    TinpuJob job;
    job.work = TinpuWork::AveragePool;
    job.input.shape = {1, 1, 2};
    job.output.shape = {1, 1, 1};
    job.rows = 1;
    job.columns = 3;  // one tap lies in the padding: sum * 3 / 2
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
