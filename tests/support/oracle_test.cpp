// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "tests/support/generate_program.h"
#include "tests/support/oracle_convolution.h"
#include "tests/support/oracle_lut.h"
#include "tests/support/oracle_pool.h"

namespace npuscope {
namespace {

using namespace oracle;

TEST(Oracle, RoundsHalvesAwayFromZero) {
    EXPECT_EQ(static_cast<int>(round_shift(3, 1)), 2);
    EXPECT_EQ(static_cast<int>(round_shift(-3, 1)), -2);
    EXPECT_EQ(static_cast<int>(round_shift(-5, 2)), -1);
    EXPECT_EQ(static_cast<int>(shift_right(1 << 20, 2, {49, 8})), 127);
    EXPECT_EQ(static_cast<int>(shift_right(-1, 49, {49, 32})), 0);
}

TEST(Oracle, ChecksumIsThatOfZlib) {
    const std::string digits = "123456789";
    EXPECT_EQ(crc32({digits.begin(), digits.end()}), 0xcbf43926U);  // source: zlib, check value
}

/// Every weight has its own byte, and no byte is left out.
void expect_dense(const WeightSurface& w) {
    std::set<std::uint64_t> seen;
    const Cube weights(w.kernels * w.channels, w.rows, w.columns);
    for_each_element(weights, [&](std::uint32_t i, std::uint32_t r, std::uint32_t s) {
        seen.insert(w.address(i / w.channels, i % w.channels, r, s) - w.base);
    });
    EXPECT_EQ(seen.size(), w.bytes());
    EXPECT_EQ(*seen.rbegin(), w.bytes() - 1);
}

TEST(Oracle, WeightsFillTheirSurfaceWithoutHoles) {
    expect_dense({64, 19, 37, 3, 2, 8, 32, 1});
    expect_dense({64, 21, 12, 7, 1, 8, 32, 2});
    expect_dense({64, 33, 5, 9, 1, 32, 32, 4});
}

TEST(Oracle, ConvolutionOfOnesCountsTheTapsInside) {
    Memory memory;
    const WeightSurface weights{0, 1, 1, 3, 3, 8, 8, 1};
    for (std::uint64_t i = 0; i < 9; ++i) {
        memory.write(i, 1);
    }
    Cube input(8, 3, 3);
    std::fill(input.values.begin(), input.values.begin() + 9, 1);
    const Window window{.pad_left = 1, .pad_top = 1, .pad_value = 0};
    const Cube out = convolve(input, weights, {1, 3}, window, {3, 3, 0, 8}, memory);
    EXPECT_EQ(out.at(0, 0, 0), 4);
    EXPECT_EQ(out.at(0, 0, 1), 6);
    EXPECT_EQ(out.at(0, 1, 1), 9);
    EXPECT_EQ(out.at(7, 1, 1), 0) << "pad lanes of the kernels are zero";
}

TEST(Oracle, TableInterpolatesInsideAndGoesOnWithASlopeOutside) {
    Lut lut;
    lut.lo.entries.resize(257);
    lut.le.entries.resize(65);
    for (int i = 0; i < 257; ++i) {
        lut.lo.entries[static_cast<std::size_t>(i)] = 10 * i;
    }
    lut.lo.index_select = 2;
    lut.lo.end = 1024;
    lut.lo.overflow = {3, 1};
    lut.underflow_lo = lut.overflow_lo = lut.hybrid_lo = true;
    EXPECT_EQ(look_up_sdp(lut, 6), 15);
    EXPECT_EQ(look_up_cdp(lut, 6), 15);
    EXPECT_EQ(look_up_sdp(lut, 0), 0) << "the start itself is below the table";
    EXPECT_EQ(look_up_sdp(lut, 1030), 2560 + 9);
}

TEST(Oracle, AverageUsesThePaddingTablesOfLinesAndColumns) {
    PoolJob job;
    job.method = PoolMethod::Average;
    job.kernel_width = job.kernel_height = 2;
    job.pad_left = job.pad_top = 1;
    job.pad_values[1] = 8;
    job.recip_width = job.recip_height = 32768;
    Cube input(1, 1, 1);
    input.values[0] = 4;
    EXPECT_EQ(pool(job, input).values[0], 7) << "(4 + 8 + 8 * 2) / 4";
}

TEST(Generator, GivesTheSameProgramForTheSameSeed) {
    const PresetParameters& preset = generator_preset("nv_large");
    for (const LayerKind kind : layer_kinds()) {
        const GeneratedProgram once = generate_program(preset, kind, 7);
        const GeneratedProgram again = generate_program(preset, kind, 7);
        EXPECT_EQ(once.cfg, again.cfg);
        EXPECT_EQ(once.files, again.files);
        EXPECT_NE(once.cfg, generate_program(preset, kind, 8).cfg);
    }
}

/// Checks against constant output would pass whatever the machine did.
TEST(Generator, ExpectsOutputsThatAreNotAllTheSame) {
    for (const LayerKind kind : layer_kinds()) {
        unsigned varied = 0;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            const GeneratedProgram p = generate_program(generator_preset("nv_small"), kind, seed);
            std::set<std::uint8_t> values(p.expected.back().bytes.begin(),
                                          p.expected.back().bytes.end());
            varied += values.size() > 5 ? 1U : 0U;
        }
        EXPECT_GE(varied, 12U) << layer_kind_name(kind);
    }
}

}  // namespace
}  // namespace npuscope
