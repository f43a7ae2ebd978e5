// SPDX-License-Identifier: Apache-2.0
#include "models/layout/weight_layout.h"

#include <gtest/gtest.h>

#include <random>

#include "models/conv/csc_math.h"

namespace npuscope {
namespace {

class WeightLayoutTest : public testing::Test {
 protected:
    std::uint32_t upto(std::uint32_t limit) {
        return 1 + static_cast<std::uint32_t>(random_() % limit);
    }
    template <class T>
    Kernels<T> any_kernels(const KernelShape& shape) {
        Kernels<T> kernels(shape);
        for (T& value : kernels.values) {
            value = static_cast<T>(random_());
        }
        return kernels;
    }
    template <class T>
    void expect_round_trip(const WeightLayout& layout) {
        const Kernels<T> kernels = any_kernels<T>(layout.shape);
        std::vector<std::uint8_t> memory(layout.stored_bytes().value, 0xEE);
        encode_weights(layout, kernels, memory);
        ASSERT_EQ(decode_weights<T>(layout, memory).values, kernels.values);
        for (std::size_t i = layout.used_bytes().value; i < memory.size(); ++i) {
            ASSERT_EQ(memory[i], 0);
        }
    }

    std::mt19937 random_{5};
};

TEST_F(WeightLayoutTest, EncodedWeightsDecodeToTheSameKernels) {
    for (int round = 0; round < 100; ++round) {
        const KernelShape shape{upto(40), upto(80), upto(4), upto(4)};
        const DatapathConfig datapath{8U << random_() % 4, 8U << random_() % 3, Bytes(8)};
        expect_round_trip<std::int8_t>(direct_weights(shape, datapath));
        expect_round_trip<std::int16_t>(direct_weights(shape, datapath, Bytes(2)));
    }
}

TEST_F(WeightLayoutTest, RowGroupsDecodeToTheSameKernels) {
    for (int round = 0; round < 50; ++round) {
        WeightLayout layout = direct_weights({upto(20), upto(16), upto(9), 1}, {});
        layout.row_group = 1U << random_() % 3;
        expect_round_trip<std::int8_t>(layout);
    }
}

TEST_F(WeightLayoutTest, OrderIsGroupCubeRowColumnKernelChannel) {
    const WeightLayout layout = direct_weights({9, 9, 1, 2}, {});
    Kernels<std::int8_t> kernels(layout.shape);
    kernels.at(0, 1, 0, 0) = 1;  // second channel: next byte
    kernels.at(1, 0, 0, 0) = 2;  // second kernel: after 8 channels
    kernels.at(0, 0, 0, 1) = 3;  // second column: after 8 kernels of 8 channels
    kernels.at(0, 8, 0, 0) = 4;  // second cube: after 2 columns of them
    kernels.at(8, 0, 0, 0) = 5;  // second group: after 8 kernels of 9 channels and 2 columns
    std::vector<std::uint8_t> memory(layout.stored_bytes().value);
    encode_weights(layout, kernels, memory);
    EXPECT_EQ(memory[1], 1);
    EXPECT_EQ(memory[8], 2);
    EXPECT_EQ(memory[64], 3);
    EXPECT_EQ(memory[128], 4);
    EXPECT_EQ(memory[144], 5);
}

TEST_F(WeightLayoutTest, GroupsAreShorterAtTheEndAndTheSurfaceFillsUpTo128Bytes) {
    const WeightLayout layout = direct_weights({19, 3, 3, 3}, {});
    EXPECT_EQ(layout.groups(), 3U);
    EXPECT_EQ(layout.group_bytes(0), Bytes(8 * 27));
    EXPECT_EQ(layout.group_bytes(2), Bytes(3 * 27));
    EXPECT_EQ(layout.group_offset(2), Bytes(16 * 27));
    EXPECT_EQ(layout.used_bytes(), Bytes(513));
    EXPECT_EQ(layout.stored_bytes(), Bytes(640));
}

TEST_F(WeightLayoutTest, ImageColumnsBecomeChannelsAndComeBack) {
    const Kernels<std::int8_t> kernels = any_kernels<std::int8_t>({5, 3, 4, 7});
    const Kernels<std::int8_t> extended = extend_channels(kernels);
    EXPECT_EQ(extended.shape, (KernelShape{5, 21, 4, 1}));
    EXPECT_EQ(extended.at(2, 4 * 3 + 1, 3, 0), kernels.at(2, 1, 3, 4));
    EXPECT_EQ(restore_columns(extended, 3).values, kernels.values);
}

}  // namespace
}  // namespace npuscope
