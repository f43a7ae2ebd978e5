// SPDX-License-Identifier: Apache-2.0
#include "sim/convert/tensor_difference.h"

#include <gtest/gtest.h>

#include <limits>

#include "models/base/error.h"
#include "sim/convert/surface_spec.h"

namespace npuscope {
namespace {

TEST(TensorDifference, NothingDiffersInEqualTensors) {
    const SurfaceSpec surface = parse_surface_spec("0x1000:1x2x3x4:int8:feature:atom=8");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<double> numbers(24, nan);
    const TensorDifference same = compare_tensors({surface.base, surface.layout}, numbers, numbers);
    EXPECT_EQ(same.mismatches, 0U);
    EXPECT_EQ(same.elements, 24U);
    EXPECT_TRUE(same.picture.empty());
}

TEST(TensorDifference, FirstAndWorstHaveIndexAddressAndValues) {
    const SurfaceSpec surface = parse_surface_spec("0x1000:1x2x3x4:int8:feature:atom=8");
    std::vector<double> wanted(24, 1);
    std::vector<double> seen = wanted;
    seen[12 + 5] = 2;   // channel 1, row 1, column 1
    seen[12 + 11] = 9;  // channel 1, row 2, column 3
    const TensorDifference difference =
        compare_tensors({surface.base, surface.layout}, wanted, seen);
    EXPECT_EQ(difference.mismatches, 2U);
    EXPECT_EQ(difference.first.index, (std::vector<std::uint64_t>{0, 1, 1, 1}));
    EXPECT_EQ(difference.first.address, Address(0x1000 + 5 * 8 + 1));
    EXPECT_EQ(difference.worst.index, (std::vector<std::uint64_t>{0, 1, 2, 3}));
    EXPECT_EQ(difference.worst.actual, 9);
    EXPECT_EQ(difference.channels, "1");
    EXPECT_EQ(difference.picture, (std::vector<std::string>{"....", ".+..", "...+"}));
    EXPECT_EQ(index_text(difference.shape, difference.first.index),
              "batch 0, channel 1, row 1, column 1");
}

TEST(TensorDifference, LargePlanesAreFoldedAndVectorsLieAcross) {
    const SurfaceSpec plane = parse_surface_spec("0x0:1x1x100x224:int8:nchw");
    std::vector<double> wanted(100 * 224);
    std::vector<double> seen = wanted;
    for (std::size_t x = 0; x < 4; ++x) {
        for (std::size_t y = 95; y < 100; ++y) {
            seen[y * 224 + x] = 1;
        }
    }
    const auto folded = compare_tensors({plane.base, plane.layout}, wanted, seen);
    ASSERT_EQ(folded.picture.size(), 20U);
    EXPECT_EQ(folded.picture.back(), '#' + std::string(55, '.'));
    const SurfaceSpec vector = parse_surface_spec("0x0:1x10x1x1:int8:nchw");
    wanted.assign(10, 0);
    seen = wanted;
    seen[2] = seen[3] = seen[9] = 1;
    const auto line = compare_tensors({vector.base, vector.layout}, wanted, seen);
    EXPECT_EQ(line.picture, (std::vector<std::string>{"..##.....#"}));
    EXPECT_EQ(line.channels, "2..3, 9");
    EXPECT_EQ(line.across, 'C');
}

TEST(TensorDifference, WeightsAreToldByKernel) {
    const SurfaceSpec weights = parse_surface_spec("0x0:4x2x3x3:int8:weight_dc:group=4,cube=8");
    std::vector<double> wanted(72, 0);
    std::vector<double> seen = wanted;
    seen[3 * 18 + 9 + 4] = -1;
    const auto difference = compare_tensors({weights.base, weights.layout}, wanted, seen);
    EXPECT_EQ(index_text(difference.shape, difference.first.index),
              "kernel 3, channel 1, row 1, column 1");
    EXPECT_EQ(difference.channels, "3");
    EXPECT_NE(difference_text(difference).find("in kernels 3\n"), std::string::npos);
}

TEST(SurfaceSpec, WrongPartsAreNamed) {
    EXPECT_TRUE(is_surface_spec("0x10:4:int8:W"));
    EXPECT_FALSE(is_surface_spec("conv1"));
    for (const char* text : {"0x10:4:int8", "0xzz:4:int8:W", "0x10:4y:int8:W", "0x10:4:byte:W",
                             "0x10:4:int8:featur", "0x10:1x4:int8:feature:atom=0"}) {
        EXPECT_THROW(parse_surface_spec(text), ConfigError) << text;
    }
}

}  // namespace
}  // namespace npuscope
