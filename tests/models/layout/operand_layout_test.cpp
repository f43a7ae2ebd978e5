// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>

#include "models/layout/feature_cube.h"

namespace npuscope {
namespace {

struct Variant {
    OperandSpread spread;
    std::uint32_t components;
    std::uint64_t bytes;
};

class OperandLayoutTest : public testing::TestWithParam<Variant> {};

TEST_P(OperandLayoutTest, PackedComponentsUnpackToTheSameValuesAndDoNotTouchEachOther) {
    std::mt19937 random(9);
    OperandSurface surface;
    surface.shape = {19, 3, 5};
    surface.spread = GetParam().spread;
    surface.components = GetParam().components;
    surface.component = Bytes(GetParam().bytes);
    surface.line_stride = surface.atom() * 6;
    surface.surface_stride = surface.line_stride * 3;
    std::vector<Tensor<std::int16_t>> written;
    std::vector<std::uint8_t> memory(surface.extent().value, 0xCC);
    for (std::uint32_t component = 0; component < surface.components; ++component) {
        Tensor<std::int16_t> values(surface.operand_shape());
        for (std::int16_t& value : values.values) {
            value = GetParam().bytes == 1 ? static_cast<std::int8_t>(random())
                                          : static_cast<std::int16_t>(random());
        }
        pack_operand(surface, component, values, memory);
        written.push_back(values);
    }
    for (std::uint32_t component = 0; component < surface.components; ++component) {
        EXPECT_EQ(unpack_operand(surface, component, memory), written[component]);
    }
}

INSTANTIATE_TEST_SUITE_P(AllVariants, OperandLayoutTest,
                         testing::Values(Variant{OperandSpread::PerChannel, 1, 1},
                                         Variant{OperandSpread::PerChannel, 1, 2},
                                         Variant{OperandSpread::PerChannel, 2, 1},
                                         Variant{OperandSpread::PerChannel, 2, 2},
                                         Variant{OperandSpread::PerElement, 1, 1},
                                         Variant{OperandSpread::PerElement, 1, 2},
                                         Variant{OperandSpread::PerElement, 2, 1},
                                         Variant{OperandSpread::PerElement, 2, 2}));

TEST(OperandLayout, AtomsGrowWithComponentsAndTheirBytes) {
    OperandSurface surface;
    surface.elements_per_atom = 32;
    surface.components = 2;
    surface.component = Bytes(2);
    EXPECT_EQ(surface.atom(), Bytes(128));
}

TEST(OperandLayout, ChannelsLieBehindEachOtherAndWholeAtomsAreRead) {
    OperandSurface surface;
    surface.base = Address(0x100);
    surface.shape = {19, 7, 7};
    surface.components = 2;
    EXPECT_EQ(surface.address_of(18, 6, 6), Address(0x100 + 36));
    EXPECT_EQ(surface.runs(), (std::vector<ByteRun>{{Address(0x100), Bytes(48)}}));
}

}  // namespace
}  // namespace npuscope
