// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "models/layout/weight_layout.h"

namespace npuscope {
namespace {

const DatapathConfig nv_full{.atomic_c = 64, .atomic_k = 32, .memory_atom = Bytes(32)};

class WeightCodecTest : public testing::Test {
 protected:
    std::uint32_t upto(std::uint32_t limit) {
        return 1 + static_cast<std::uint32_t>(random_() % limit);
    }
    /// A layout of any kind and width.
    WeightLayout any_layout() {
        const Bytes element(upto(2));
        if (upto(4) == 1) {
            return winograd_weights({upto(70), 32 * upto(3), 4, 4}, nv_full, element);
        }
        WeightLayout layout =
            direct_weights({upto(70), upto(150), upto(4), upto(4)}, nv_full, element);
        if (upto(3) == 1) {  // image weights, post-extended
            layout.shape.columns = 1;
            layout.shape.channels = upto(16);
            layout.row_group = 1U << upto(2);
        }
        return layout;
    }
    std::vector<std::uint8_t> any_weights(const WeightLayout& layout, unsigned percent_zero) {
        std::vector<std::uint8_t> stored(layout.used_bytes().value);
        const std::size_t element = layout.element.value;
        for (std::size_t i = 0; i < stored.size(); i += element) {
            const bool zero = random_() % 100 < percent_zero;
            for (std::size_t b = 0; b < element; ++b) {
                stored[i + b] = zero ? std::uint8_t{0} : static_cast<std::uint8_t>(random_());
            }
        }
        return stored;
    }
    static DecompressedWeights decompress(const WeightLayout& layout,
                                          const CompressedWeights& compressed) {
        return decompress_weights(layout, {compressed.weights, compressed.mask, compressed.sizes});
    }

    std::mt19937 random_{11};
};

TEST_F(WeightCodecTest, CompressedWeightsComeBackWhateverTheirKindAndZeros) {
    for (int round = 0; round < 60; ++round) {
        const WeightLayout layout = any_layout();
        const unsigned zeros[] = {0, 10, 50, 90, 100};
        const std::vector<std::uint8_t> stored = any_weights(layout, zeros[round % 5]);
        const CompressedWeights compressed = compress_weights(layout, stored);
        const DecompressedWeights back = decompress(layout, compressed);
        EXPECT_EQ(back.stored, stored);
        EXPECT_TRUE(back.faults.empty());
        EXPECT_EQ(compressed.sizes.size(), layout.groups());
        EXPECT_EQ(compressed.mask.size(), stored_mask_bytes(layout).value);
        EXPECT_EQ(compressed.weights.size() % 128, 0U);
        if (round % 5 == 4) {
            EXPECT_TRUE(compressed.weights.empty());
        }
    }
}

TEST_F(WeightCodecTest, BitsAndValuesRunOnFromGroupToGroup) {
    // 33 kernels of one byte: the second group's only bit is bit 0 of byte 4
    const WeightLayout layout = direct_weights({33, 1, 1, 1}, nv_full);
    std::vector<std::uint8_t> stored(33, 0);
    stored[1] = 7;
    stored[32] = 9;
    const CompressedWeights compressed = compress_weights(layout, stored);
    EXPECT_EQ(compressed.sizes, (std::vector<std::uint32_t>{1, 1}));
    EXPECT_EQ(compressed.mask[0], 2);
    EXPECT_EQ(compressed.mask[4], 1);
    EXPECT_EQ(compressed.weights[0], 7);
    EXPECT_EQ(compressed.weights[1], 9);
}

TEST_F(WeightCodecTest, ANegativeZeroIsStored) {
    const WeightLayout layout = direct_weights({1, 2, 1, 1}, nv_full, Bytes(2));
    const std::vector<std::uint8_t> stored{0x00, 0x80, 0x00, 0x00};
    EXPECT_EQ(compress_weights(layout, stored).sizes, (std::vector<std::uint32_t>{2}));
}

TEST_F(WeightCodecTest, AWrongGroupSizeIsFoundWithItsGroupAndPlace) {
    const WeightLayout layout = direct_weights({70, 64, 1, 1}, nv_full);
    CompressedWeights compressed = compress_weights(layout, any_weights(layout, 50));
    compressed.sizes[1] += 2;
    const std::vector<CompressionFault> faults = decompress(layout, compressed).faults;
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].kind, CompressionFault::Kind::GroupSize);
    EXPECT_EQ(faults[0].group, 1U);
    EXPECT_EQ(faults[0].offset, Bytes(4));
    EXPECT_EQ(faults[0].said, faults[0].counted + 2);
}

TEST_F(WeightCodecTest, AZeroAmongTheValuesIsFoundWithItsKernel) {
    const WeightLayout layout = direct_weights({40, 64, 1, 1}, nv_full);
    std::vector<std::uint8_t> stored(layout.used_bytes().value, 1);
    CompressedWeights compressed = compress_weights(layout, stored);
    const std::size_t place = 32 * 64 + 3 * 64 + 5;  // group 1, its kernel 3
    compressed.weights[place] = 0;
    const std::vector<CompressionFault> faults = decompress(layout, compressed).faults;
    ASSERT_EQ(faults.size(), 1U);
    EXPECT_EQ(faults[0].kind, CompressionFault::Kind::StoredZero);
    EXPECT_EQ(faults[0].group, 1U);
    EXPECT_EQ(faults[0].kernel, 35U);
    EXPECT_EQ(faults[0].offset, Bytes(place));
}

TEST_F(WeightCodecTest, AnyMaskDecompressesWithoutHarm) {
    // a mask with stray bits: the values must cover what it calls for
    for (int round = 0; round < 40; ++round) {
        const WeightLayout layout = any_layout();
        CompressedWeights compressed = compress_weights(layout, any_weights(layout, 40));
        for (int i = 0; i < 20; ++i) {
            compressed.mask[random_() % compressed.mask.size()] ^=
                static_cast<std::uint8_t>(1U << random_() % 8);
        }
        for (std::uint32_t& size : compressed.sizes) {
            size ^= static_cast<std::uint32_t>(random_() & 3U);
        }
        compressed.weights.resize(CompressedGroups(layout, compressed.mask).weight_bytes(), 1);
        const DecompressedWeights back = decompress(layout, compressed);
        EXPECT_EQ(back.stored.size(), layout.used_bytes().value);
        for (const CompressionFault& fault : back.faults) {
            EXPECT_LT(fault.group, layout.groups());
            EXPECT_LT(fault.kernel, layout.shape.kernels);
        }
    }
}

}  // namespace
}  // namespace npuscope
