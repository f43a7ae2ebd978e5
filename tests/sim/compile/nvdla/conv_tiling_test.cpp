// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/conv_tiling.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace npuscope {
namespace {

ConvProblem problem(const Shape& input, std::uint32_t kernels, std::uint32_t kernel,
                    std::uint32_t stride = 1) {
    ConvProblem made;
    made.input = input;
    made.kernels = {kernels, input.channels, kernel, kernel};
    const std::uint32_t padding = kernel / 2;
    made.geometry = {.out_height = (input.height + 2 * padding - kernel) / stride + 1,
                     .out_width = (input.width + 2 * padding - kernel) / stride + 1,
                     .stride_y = stride,
                     .stride_x = stride,
                     .pad_top = padding,
                     .pad_left = padding};
    return made;
}

ConvTiling chosen(const ConvProblem& problem, const TilingCosts& costs) {
    return std::get<ConvTiling>(choose_tiling(problem, costs));
}

TEST(ConvTiling, TilesOverlapByTheRowsThatTheKernelReachesOver) {
    const auto tiles = cut_rows(problem({8, 10, 10}, 8, 3), 3);
    ASSERT_EQ(tiles.size(), 3U);
    EXPECT_EQ(tiles[0], (RowPiece{0, 3, 0, 4, 1}));
    EXPECT_EQ(tiles[1], (RowPiece{3, 3, 2, 5, 0}));
    EXPECT_EQ(tiles[2], (RowPiece{6, 4, 5, 5, 0}));
}

TEST(ConvTiling, StridesSkipRowsBetweenTiles) {
    const auto tiles = cut_rows(problem({8, 9, 9}, 8, 1, 4), 3);
    EXPECT_EQ(tiles[0], (RowPiece{0, 1, 0, 1, 0}));
    EXPECT_EQ(tiles[1], (RowPiece{1, 1, 4, 1, 0}));
    EXPECT_EQ(tiles[2], (RowPiece{2, 1, 8, 1, 0}));
}

TEST(ConvTiling, RowsOfOutputAreCoveredOnceAndInputStaysInside) {
    for (std::uint32_t kernel = 1; kernel <= 7; ++kernel) {
        for (std::uint32_t stride = 1; stride <= 3; ++stride) {
            const ConvProblem cut = problem({8, 23, 9}, 8, kernel, stride);
            for (std::uint32_t count = 1; count <= cut.geometry.out_height; ++count) {
                std::uint32_t next = 0;
                for (const RowPiece& tile : cut_rows(cut, count)) {
                    EXPECT_EQ(tile.out_begin, next);
                    EXPECT_GE(tile.out_rows, 1U);
                    EXPECT_GE(tile.in_rows, 1U);
                    EXPECT_LE(tile.in_begin + tile.in_rows, 23U);
                    next += tile.out_rows;
                }
                EXPECT_EQ(next, cut.geometry.out_height);
            }
        }
    }
}

TEST(ConvTiling, EveryTileFitsTheDataBanksAndAGroupTheWeightBanks) {
    const TilingCosts costs;
    for (const ConvProblem& cut :
         {problem({64, 56, 56}, 64, 3), problem({256, 56, 56}, 128, 1, 2),
          problem({512, 14, 14}, 512, 3), problem({3, 224, 224}, 64, 7, 2)}) {
        const ConvTiling tiling = chosen(cut, costs);
        EXPECT_LE(tiling.banks.data + tiling.banks.weight, costs.npu.cbuf.banks);
        for (const RowPiece& tile : tiling.tiles) {
            const std::uint64_t entries =
                divide_up(cut.input.channels, 8) * cut.input.width * tile.in_rows;
            EXPECT_LE(entries, std::uint64_t{tiling.banks.data} * costs.npu.cbuf.bank_depth);
        }
        const std::uint64_t group = cut.kernels.elements() / cut.kernels.kernels;  // 8 of 8 bytes
        EXPECT_LE(group, std::uint64_t{tiling.banks.weight} * costs.npu.cbuf.bank_depth);
    }
}

TEST(ConvTiling, WhatFitsAtOnceAndIsBoundByItsWeightsIsNotCut) {
    EXPECT_EQ(chosen(problem({512, 7, 7}, 512, 3), {}).tiles.size(), 1U);
}

/// A program of one short layer, on the arrays and memory of nv_full.
TEST(ConvTiling, ASecondOperationIsNoFasterThanItsRegistersAreWritten) {
    TilingCosts costs;
    costs.npu.datapath.atomic_c = 64;
    costs.npu.datapath.atomic_k = 32;
    costs.npu.datapath.memory_atom = Bytes(32);
    costs.npu.cbuf.bank_width = Bytes(128);
    costs.npu.mcif.bus_width = Bytes(64);
    costs.npu.sdp.output_throughput = 16;
    ConvProblem cut = problem({128, 7, 7}, 32, 1);
    const TilingKey two{.form = {}, .tiles = 2, .data_banks = 2};
    costs.npu.csb.fifo_round_trip += Cycles(4);  // a cycle more for each write
    const Cycles among_others = tiling_with(cut, costs, two)->estimate;
    cut.alone = true;
    EXPECT_GT(tiling_with(cut, costs, two)->estimate, among_others);
    EXPECT_EQ(chosen(cut, costs).tiles.size(), 1U);
}

TEST(ConvTiling, ASmallBufferForcesMoreTiles) {
    TilingCosts small;
    small.npu.cbuf.bank_depth = 64;
    const ConvProblem cut = problem({64, 28, 28}, 8, 3);
    EXPECT_GT(chosen(cut, small).tiles.size(), chosen(cut, {}).tiles.size());
}

TEST(ConvTiling, AMapOfOneColumnIsNotCutIntoSinglePixels) {
    TilingCosts small;
    small.npu.cbuf.bank_depth = 16;
    ConvProblem column = problem({64, 40, 1}, 8, 1);
    for (const RowPiece& tile : chosen(column, small).tiles) {
        EXPECT_GE(tile.out_rows, 2U);
    }
}

TEST(ConvTiling, TilesOfTallMapsFitTheRegisters) {
    for (const std::uint32_t height : {5000U, 9000U, 48000U}) {
        for (const std::uint32_t stride : {1U, 2U}) {
            const ConvTiling tiling = chosen(problem({1, height, 1}, 8, 1, stride), {});
            std::uint32_t rows = 0;
            for (const RowPiece& tile : tiling.tiles) {
                EXPECT_LE(tile.in_rows, 4096U);  // CSC's D_RELEASE has 12 bits
                rows += tile.out_rows;
            }
            EXPECT_EQ(rows, (height - 1) / stride + 1);
        }
    }
}

TEST(ConvTiling, RefusesRowsThatDoNotFit) {
    TilingCosts tiny;
    tiny.npu.cbuf.bank_depth = 1;
    const auto refused = choose_tiling(problem({64, 28, 28}, 8, 3), tiny);
    EXPECT_NE(std::get<Diagnostic>(refused).sentence.find("convolution buffer"), std::string::npos);
}

TEST(ConvTiling, AGroupIsHalvedUntilItsWeightsFit) {
    const NpuConfig npu;
    EXPECT_EQ(largest_group(problem({512, 7, 7}, 512, 3), npu), 8U);
    ConvProblem fc;  // 25,088 bytes a kernel, the buffer holds 131,072
    fc.input = {512, 7, 7};
    fc.kernels = {4096, 512, 7, 7};
    EXPECT_EQ(largest_group(fc, npu), 4U);
    fc.kernels = {4096, 512, 16, 16};
    fc.input = {512, 16, 16};
    EXPECT_EQ(largest_group(fc, npu), 0U);
}

}  // namespace
}  // namespace npuscope
