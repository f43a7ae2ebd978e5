// SPDX-License-Identifier: Apache-2.0
#include "models/rubik/rubik_registers.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "models/base/error.h"
#include "tests/support/refusal.h"
#include "tests/support/registers.h"

namespace npuscope {
namespace {

using ::testing::HasSubstr;

class RubikJobTest : public ::testing::Test {
 protected:
    RubikJobTest() : rubik_(rbk_block) {
        config_.present = true;
        datapath_.memory_atom = Bytes(32);
        datapath_.int16 = datapath_.fp16 = true;
        set("D_MISC_CFG", "IN_PRECISION", 1);
        set("D_DATAIN_SIZE_0", "DATAIN_WIDTH", 4);
        set("D_DATAIN_SIZE_0", "DATAIN_HEIGHT", 2);
        set("D_DATAIN_SIZE_1", "DATAIN_CHANNEL", 39);
        set("D_DAIN_ADDR_LOW", "DAIN_ADDR_LOW", 0x1000 >> 5);
        set("D_DAIN_ADDR_HIGH", "DAIN_ADDR_HIGH", 1);
        set("D_DAIN_LINE_STRIDE", "DAIN_LINE_STRIDE", 0xa0 >> 5);
        set("D_DAIN_SURF_STRIDE", "DAIN_SURF_STRIDE", 0x200 >> 5);
        set("D_DAIN_PLANAR_STRIDE", "DAIN_PLANAR_STRIDE", 0x80 >> 5);
        set("D_DAOUT_ADDR_LOW", "DAOUT_ADDR_LOW", 0x8000 >> 5);
        set("D_DAOUT_LINE_STRIDE", "DAOUT_LINE_STRIDE", 0x40 >> 5);
        set("D_DAOUT_SURF_STRIDE", "DAOUT_SURF_STRIDE", 0x400 >> 5);
        set("D_DAOUT_PLANAR_STRIDE", "DAOUT_PLANAR_STRIDE", 0x100 >> 5);
        set("D_DAOUT_RAM_TYPE", "DATAOUT_RAM_TYPE", 1);
    }

    void set(std::string_view name, std::string_view field, std::uint32_t value) {
        write_field(rubik_, name, field, value);
    }
    RubikJob read() const {
        return decoded([this](Diagnostics& findings) {
            return decode_rubik(rubik_, config_, datapath_, findings);
        });
    }
    std::string complaint() const {
        try {
            read();
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "nothing";
    }

    RegisterValues rubik_;
    RubikConfig config_;
    DatapathConfig datapath_;
};

TEST_F(RubikJobTest, SplitReadsSurfacesAndWritesPlanes) {
    set("D_MISC_CFG", "RUBIK_MODE", 1);
    const RubikJob job = read();
    EXPECT_EQ(job.mode, RubikMode::Split);
    EXPECT_EQ(job.input, (Shape{40, 3, 5}));
    EXPECT_EQ(job.feature.base, Address(0x100001000));
    EXPECT_EQ(job.feature.line_stride, Bytes(0xa0));
    EXPECT_EQ(job.feature.surfaces(), 3U);
    EXPECT_EQ(job.planar.line_address(2, 1), Address(0x8000 + 2 * 0x100 + 0x40));
    EXPECT_EQ(job.planar.line, Bytes(32));
    EXPECT_TRUE(job.source_in_sram);
    EXPECT_FALSE(job.destination_in_sram);
}

TEST_F(RubikJobTest, MergeReadsPlanesAndWritesSurfaces) {
    set("D_MISC_CFG", "RUBIK_MODE", 2);
    set("D_MISC_CFG", "IN_PRECISION", 0);
    const RubikJob job = read();
    EXPECT_EQ(job.feature.base, Address(0x8000));
    EXPECT_EQ(job.feature.surface_stride, Bytes(0x400));
    EXPECT_EQ(job.feature.surfaces(), 2U);
    EXPECT_EQ(job.planar.line_address(3, 0), Address(0x100001000 + 3 * 0x80));
}

TEST_F(RubikJobTest, ContractMakesOneCubeOfStridesTimesAsMany) {
    set("D_MISC_CFG", "RUBIK_MODE", 0);
    set("D_DATAIN_SIZE_1", "DATAIN_CHANNEL", 6 * 32 - 1);
    set("D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL", 19);
    set("D_DECONV_STRIDE", "DECONV_X_STRIDE", 2);
    set("D_DECONV_STRIDE", "DECONV_Y_STRIDE", 1);
    set("D_CONTRACT_STRIDE_0", "CONTRACT_STRIDE_0", 0x400 >> 5);
    set("D_CONTRACT_STRIDE_1", "CONTRACT_STRIDE_1", 0x80 >> 5);
    const RubikJob job = read();
    EXPECT_EQ(job.contracted.shape, (Shape{32, 6, 15}));
    EXPECT_EQ(job.super_line, Bytes(0x80));
    EXPECT_EQ(job.stride_x, 3U);
    EXPECT_EQ(job.stride_y, 2U);
    set("D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL", 40);
    EXPECT_THAT(complaint(), HasSubstr("NVDLA_RBK.D_DATAIN_SIZE_1_0.DATAIN_CHANNEL = 191: 12 "
                                       "surfaces are read, but 2 x 3 x 3 are needed"));
}

TEST_F(RubikJobTest, StridesOfAContractionFollowFromTheOthers) {
    set("D_MISC_CFG", "RUBIK_MODE", 0);
    set("D_DATAIN_SIZE_1", "DATAIN_CHANNEL", 4 * 32 - 1);
    set("D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL", 31);
    set("D_DECONV_STRIDE", "DECONV_X_STRIDE", 1);
    set("D_DECONV_STRIDE", "DECONV_Y_STRIDE", 1);
    set("D_CONTRACT_STRIDE_0", "CONTRACT_STRIDE_0", 0x20 >> 5);
    set("D_CONTRACT_STRIDE_1", "CONTRACT_STRIDE_1", 0x80 >> 5);
    EXPECT_THAT(complaint(), HasSubstr("NVDLA_RBK.D_CONTRACT_STRIDE_0_0 = 0x20: D_DAIN_SURF_STRIDE "
                                       "(0x200) times the 2 surfaces of the output is 0x400"));
    set("D_CONTRACT_STRIDE_0", "CONTRACT_STRIDE_0", 0x400 >> 5);
    EXPECT_EQ(complaint(), "nothing");
    set("D_CONTRACT_STRIDE_1", "CONTRACT_STRIDE_1", 0xa0 >> 5);
    EXPECT_THAT(complaint(), HasSubstr("NVDLA_RBK.D_CONTRACT_STRIDE_1_0 = 0xa0: "
                                       "D_DAOUT_LINE_STRIDE (0x40) times DECONV_Y_STRIDE + 1 (2) "
                                       "is 0x80"));
    set("D_DATAIN_SIZE_0", "DATAIN_HEIGHT", 0);  // it has no effect
    EXPECT_EQ(complaint(), "nothing");
}

TEST_F(RubikJobTest, WhatTheNpuLacksIsRefused) {
    set("D_MISC_CFG", "RUBIK_MODE", 3);
    EXPECT_THAT(complaint(), HasSubstr("unknown mode (0 contract, 1 split, 2 merge)"));
    datapath_.int16 = datapath_.fp16 = false;
    EXPECT_THAT(complaint(), HasSubstr("int16 is not available: this NPU works on int8 only"));
    config_.present = false;
    EXPECT_THAT(complaint(), HasSubstr("NVDLA_RBK.D_MISC_CFG_0.RUBIK_MODE = 3: this NPU has no "
                                       "RUBIK (choose a preset with rubik.present = true)"));
}

TEST_F(RubikJobTest, RegistersOfAJobDecodeToTheJob) {
    std::mt19937 random(33);
    for (unsigned i = 0; i < 300; ++i) {
        randomise_registers(rubik_, random);
        const std::uint32_t x = below(random, 4);
        const std::uint32_t y = below(random, 4);
        const std::uint32_t channels = 32 * (1 + below(random, 4));
        set("D_MISC_CFG", "RUBIK_MODE", i % 3);
        set("D_MISC_CFG", "IN_PRECISION", below(random, 3));
        set("D_DATAIN_SIZE_0", "DATAIN_WIDTH", below(random, 100));
        set("D_DATAIN_SIZE_0", "DATAIN_HEIGHT", below(random, 100));
        set("D_DATAIN_SIZE_1", "DATAIN_CHANNEL", channels * (x + 1) * (y + 1) - 1);
        set("D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL", channels - 1);
        set("D_DECONV_STRIDE", "DECONV_X_STRIDE", x);
        set("D_DECONV_STRIDE", "DECONV_Y_STRIDE", y);
        const std::uint32_t surface_stride = below(random, 1000);
        const std::uint32_t line_stride = below(random, 1000);
        const bool bytes = rubik_.field("D_MISC_CFG", "IN_PRECISION") == 0;
        set("D_DAIN_SURF_STRIDE", "DAIN_SURF_STRIDE", surface_stride);
        set("D_DAOUT_LINE_STRIDE", "DAOUT_LINE_STRIDE", line_stride);
        set("D_CONTRACT_STRIDE_0", "CONTRACT_STRIDE_0",
            surface_stride * channels / (bytes ? 32 : 16));
        set("D_CONTRACT_STRIDE_1", "CONTRACT_STRIDE_1", line_stride * (y + 1));
        const RubikJob job = read();
        rubik_ = encode_rubik(job);
        EXPECT_EQ(read(), job);
    }
}

}  // namespace
}  // namespace npuscope
