// SPDX-License-Identifier: Apache-2.0
#include "models/layout/feature_cube.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <set>

namespace npuscope {
namespace {

class FeatureCubeTest : public testing::TestWithParam<std::uint64_t> {
 protected:
    std::uint32_t upto(std::uint32_t limit) {
        return 1 + static_cast<std::uint32_t>(random_() % limit);
    }
    FeatureCube any_cube(Bytes element) {
        const Bytes atom(GetParam());
        FeatureCube cube =
            packed_cube(Address(0x9000'0000), {upto(70), upto(6), upto(19)}, atom, element);
        cube.line_stride += atom * (random_() % 3);
        cube.surface_stride = cube.line_stride * cube.shape.height + atom * (random_() % 3);
        return cube;
    }
    template <class T>
    void expect_round_trip() {
        for (int round = 0; round < 60; ++round) {
            const FeatureCube cube = any_cube(Bytes(sizeof(T)));
            Tensor<T> tensor(cube.shape);
            for (T& value : tensor.values) {
                value = static_cast<T>(random_());
            }
            std::vector<std::uint8_t> memory(cube.extent().value, 0x5A);
            pack_cube(cube, tensor, memory);
            ASSERT_EQ(unpack_cube<T>(cube, memory), tensor);
        }
    }

    std::mt19937 random_{3};
};

TEST_P(FeatureCubeTest, PackedBytesUnpackToTheSameTensor) {
    expect_round_trip<std::int8_t>();
    expect_round_trip<std::int16_t>();
}

TEST_P(FeatureCubeTest, EveryElementHasItsOwnAddressInsideTheExtentAndInsideARun) {
    for (int round = 0; round < 20; ++round) {
        const FeatureCube cube = any_cube(Bytes(round % 2 == 0 ? 1 : 2));
        const std::vector<ByteRun> runs = cube.runs();
        std::set<Address> seen;
        for (std::uint32_t c = 0; c < cube.shape.channels; ++c) {
            for (std::uint32_t y = 0; y < cube.shape.height; ++y) {
                const Address at = cube.address_of(c, y, cube.shape.width - 1);
                ASSERT_LE(at + cube.element, cube.base + cube.extent());
                ASSERT_TRUE(seen.insert(at).second);
                ASSERT_TRUE(std::any_of(runs.begin(), runs.end(), [&](const ByteRun& run) {
                    return run.address <= at && at + cube.element <= run.end();
                }));
            }
        }
    }
}

TEST_P(FeatureCubeTest, UnpackingReadsTheByteAtTheElementsAddress) {
    const FeatureCube cube = any_cube(Bytes(1));
    std::vector<std::uint8_t> memory(cube.extent().value);
    std::iota(memory.begin(), memory.end(), std::uint8_t{0});
    const Tensor<std::int8_t> tensor = unpack_cube<std::int8_t>(cube, memory);
    for (std::uint32_t c = 0; c < cube.shape.channels; ++c) {
        for (std::uint32_t x = 0; x < cube.shape.width; ++x) {
            const Bytes offset = cube.address_of(c, cube.shape.height - 1, x) - cube.base;
            ASSERT_EQ(static_cast<std::uint8_t>(tensor.at(c, cube.shape.height - 1, x)),
                      memory[offset.value]);
        }
    }
}

TEST_P(FeatureCubeTest, RunsCoverEveryLineOnceAndNoGap) {
    const FeatureCube cube = any_cube(Bytes(1));
    Bytes sum;
    for (const ByteRun& run : cube.runs()) {
        sum += run.bytes;
    }
    EXPECT_EQ(sum, cube.line_bytes() * cube.shape.height * cube.surfaces());
}

TEST_P(FeatureCubeTest, PackingKeepsGapsAndClearsUnusedLanes) {
    const Bytes atom(GetParam());
    FeatureCube cube = packed_cube(Address(0), {1, 2, 3}, atom);
    cube.line_stride += atom;
    std::vector<std::uint8_t> memory(cube.extent().value, 0x5A);
    pack_cube(cube, Tensor<std::int8_t>(cube.shape, 7), memory);
    EXPECT_EQ(memory[0], 7);
    EXPECT_EQ(memory[1], 0);
    EXPECT_EQ(memory[cube.line_bytes().value], 0x5A);
}

INSTANTIATE_TEST_SUITE_P(Atoms, FeatureCubeTest, testing::Values(8, 16, 32));

TEST(FeatureCube, APackedCubeIsOneRun) {
    const FeatureCube cube = packed_cube(Address(64), {20, 4, 5}, Bytes(8));
    EXPECT_EQ(cube.runs(), (std::vector<ByteRun>{{Address(64), cube.extent()}}));
    EXPECT_TRUE(cube.line_packed());
    EXPECT_TRUE(cube.surface_packed());
}

}  // namespace
}  // namespace npuscope
