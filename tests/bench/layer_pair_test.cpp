// SPDX-License-Identifier: Apache-2.0
#include "bench/layer_pair.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "bench/layer_of_program.h"

namespace npuscope::bench {
namespace {

using testing::HasSubstr;

constexpr LayerShape shape{.width = 14,
                           .height = 7,
                           .channels = 20,
                           .kernels = 24,
                           .kernel_size = 3,
                           .padding = 1,
                           .data_banks = 2,
                           .weight_banks = 3};

TEST(LayerPair, SecondLayerIsEnabledInItsGroupBehindTheFirst) {
    const std::string text = trace_of({{shape, shape}});
    const std::size_t first = text.find("reg_write(NVDLA_SDP.D_OP_ENABLE_0, 0x1);");
    const std::size_t pointer = text.find("reg_write(NVDLA_SDP.S_POINTER_0, 0x1);", first);
    const std::size_t second = text.find("reg_write(NVDLA_SDP.D_OP_ENABLE_0, 0x1);", pointer);
    EXPECT_NE(second, std::string::npos);
    EXPECT_LT(second, text.find("intr_notify(SDP_0, sync_id_0);"));
    EXPECT_THAT(text, HasSubstr("intr_notify(SDP_1, sync_id_1);"));
}

TEST(LayerPair, OneLayerStaysInTheFirstGroup) {
    EXPECT_EQ(trace_of({{shape}}).find("S_POINTER_0, 0x1"), std::string::npos);
}

TEST(LayerPair, ImagesHaveTheSizeOfTheirSurfaces) {
    const Program program = program_of({{shape}}, "p");
    std::vector<std::size_t> sizes;
    for (const Statement& statement : program.statements) {
        if (const auto* load = std::get_if<LoadMemory>(&statement.action)) {
            sizes.push_back(load->image.bytes.size());
        }
    }
    // 3 surfaces of 8 channels; 3 x 3 x 20 x 24 weights rounded up to 128 bytes
    EXPECT_EQ(sizes, (std::vector<std::size_t>{14 * 7 * 24, 4352}));
}

TEST(LayerOfProgram, ReadsTheShapeBackFromTheRegisters) {
    const auto layer = layer_of(program_of({{shape}}, "p"));
    ASSERT_TRUE(layer);
    EXPECT_EQ(layer->input, (Shape{20, 7, 14}));
    EXPECT_EQ(layer->kernels.kernels, 24U);
    EXPECT_EQ(layer->kernels.rows, 3U);
    EXPECT_EQ(layer->convolution.out_width, 14U);
    EXPECT_EQ(layer->convolution.pad_top, 1U);
    EXPECT_EQ(layer->macs(), 14U * 7 * 24 * 20 * 9);
}

TEST(LayerOfProgram, SeveralLayersAreNone) {
    EXPECT_FALSE(layer_of(program_of({{shape, shape}}, "p")));
}

}  // namespace
}  // namespace npuscope::bench
