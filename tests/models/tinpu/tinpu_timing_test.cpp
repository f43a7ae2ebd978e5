// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu_timing.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/models/tinpu/sample_job.h"

namespace npuscope {
namespace {

using sample::pointwise_job;

Cycles work_of(const std::vector<TinpuPiece>& pieces) {
    return std::accumulate(pieces.begin(), pieces.end(), Cycles(0),
                           [](Cycles sum, const TinpuPiece& piece) { return sum + piece.work; });
}

/// What every layer's pieces have in common.
void expect_whole(const TinpuJob& job) {
    const TinpuConfig config;
    const std::vector<TinpuPiece> pieces = tinpu_pieces(job, config);
    EXPECT_EQ(work_of(pieces), tinpu_cycles(job, config, Bytes(4)).compute);
    EXPECT_EQ(pieces.back().input, job.input.bytes());
    EXPECT_EQ(pieces.back().output, job.output.bytes());
    EXPECT_LE(pieces.size(), 512U);
    for (std::size_t i = 1; i < pieces.size(); ++i) {
        EXPECT_GE(pieces[i].input, pieces[i - 1].input);
        EXPECT_GE(pieces[i].output, pieces[i - 1].output);
    }
}

TEST(TinpuTiming, PartsOfALayerFollowFromItsNumbers) {
    TinpuConfig config;
    config.cycles_per_100_steps = 200;
    config.cycles_per_100_weight_bytes = 300;
    config.layer_overhead = Cycles(1000);
    const TinpuCycles cycles = tinpu_cycles(pointwise_job(), config, Bytes(4));
    EXPECT_EQ(cycles.compute, Cycles(48));  // 6 positions x 4 channels in steps of 2 cycles
    EXPECT_EQ(cycles.reads, Cycles(6));
    EXPECT_EQ(cycles.writes, Cycles(6));
    EXPECT_EQ(cycles.weights, Cycles(48));
    EXPECT_EQ(cycles.total(), Cycles(1096));
    EXPECT_EQ(tinpu_cycles(pointwise_job(), config, Bytes(1)).memory(), Cycles(24));
}

TEST(TinpuTiming, NarrowWeightsMoveFewerBytes) {
    TinpuJob job = pointwise_job();
    const Bytes wide = tinpu_traffic(job).read;
    job.weights->bits = 2;
    EXPECT_EQ(wide - tinpu_traffic(job).read, Bytes(12));
}

TEST(TinpuPieces, TogetherAreTheWholeLayer) {
    expect_whole(pointwise_job());
    expect_whole(pointwise_job(1000));
    TinpuJob pool = pointwise_job(50);
    pool.work = TinpuWork::AveragePool;
    pool.rows = 50;
    pool.columns = 3;
    pool.output.shape = {4, 1, 1};
    expect_whole(pool);
    TinpuJob transposed = pointwise_job(5);
    transposed.work = TinpuWork::Transposed;
    transposed.rows = transposed.columns = 2;
    transposed.geometry.stride_y = transposed.geometry.stride_x = 2;
    transposed.output.shape = {4, 10, 6};
    expect_whole(transposed);
    TinpuJob dilated = pointwise_job(9);
    dilated.rows = 3;
    dilated.geometry.dilation_y = 4;
    dilated.output.shape.height = 1;
    expect_whole(dilated);
}

TEST(TinpuPieces, APlaceWaitsForTheRowsOfItsWindow) {
    TinpuJob job = pointwise_job(8);  // lines of 12 bytes
    job.rows = 3;
    job.geometry.pad_top = 1;
    const std::vector<TinpuPiece> pieces = tinpu_pieces(job, {});
    ASSERT_EQ(pieces.size(), 8U * 3 * 3);  // a part for each row of the window
    EXPECT_EQ(pieces[0].input, Bytes(0));  // in the padding
    EXPECT_EQ(pieces[1].input, Bytes(4));
    EXPECT_EQ(pieces[2].input, Bytes(12 + 4));
    EXPECT_EQ(pieces[2].output, Bytes(4));
    EXPECT_EQ(pieces[9].input, Bytes(16 + 8));  // nothing more than the previous positions
    EXPECT_EQ(pieces[11].input, Bytes(24 + 4));
}

TEST(TinpuPieces, APoolOfTheWholeMapBeginsWithItsFirstRows) {
    TinpuJob pool = pointwise_job(100);
    pool.work = TinpuWork::AveragePool;
    pool.rows = 100;
    pool.columns = 3;
    pool.output.shape = {4, 1, 1};
    const std::vector<TinpuPiece> pieces = tinpu_pieces(pool, {});
    ASSERT_EQ(pieces.size(), 100U);
    EXPECT_EQ(pieces.front().input, Bytes(12));
    EXPECT_EQ(pieces.front().output, Bytes(0));
}

}  // namespace
}  // namespace npuscope
