// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <random>

#include "models/base/error.h"
#include "models/conv/conv_registers.h"
#include "tests/models/layout/register_writer.h"
#include "tests/support/refusal.h"

namespace npuscope {
namespace {

CdmaJob cdma_job(const RegisterValues& registers, const ConvFeatures& features = {}) {
    return decoded(
        [&](Diagnostics& findings) { return decode_cdma(registers, features, findings); });
}

RegisterWriter feature_registers() {
    RegisterWriter registers(cdma_block);
    registers.int8()
        .raw("D_DAIN_RAM_TYPE", 1)
        .raw("D_WEIGHT_RAM_TYPE", 1)
        .raw("D_DATAIN_SIZE_0", 0x001f'0027)
        .raw("D_DATAIN_SIZE_1", 18)
        .raw("D_DAIN_ADDR_HIGH_0", 1)
        .raw("D_DAIN_ADDR_LOW_0", 0x8000'0040)
        .raw("D_LINE_STRIDE", 0x140)
        .raw("D_SURF_STRIDE", 0x2800)
        .raw("D_DAIN_MAP", 0x0001'0001)
        .raw("D_FETCH_GRAIN", 4)
        .raw("D_ENTRY_PER_SLICE", 119)
        .raw("D_WEIGHT_ADDR_LOW", 0x9000'0000)
        .raw("D_WEIGHT_BYTES", 0x200)
        .raw("D_WEIGHT_SIZE_0", 26)
        .raw("D_WEIGHT_SIZE_1", 15)
        .raw("D_BANK", 0x001d'0001);
    return registers;
}

RegisterWriter pixel_registers(std::string_view format) {
    RegisterWriter registers = feature_registers();
    registers.field("D_DATAIN_FORMAT", "DATAIN_FORMAT", 1)
        .field("D_DATAIN_FORMAT", "PIXEL_FORMAT", find_pixel_format(format)->code)
        .raw("D_DATAIN_SIZE_1", find_pixel_format(format)->channels - 1U)
        .raw("D_ZERO_PADDING", 0x0104'0302)
        .raw("D_ZERO_PADDING_VALUE", 0x91)
        .raw("D_MEAN_FORMAT", 1)
        .raw("D_MEAN_GLOBAL_0", 0x8735'e51d)
        .raw("D_MEAN_GLOBAL_1", 0xeac5'1712)
        .raw("D_CVT_CFG", 0x31)
        .raw("D_CVT_SCALE", 0xffff);
    return registers;
}

void expect_refused(const RegisterWriter& registers, const std::string& text,
                    const ConvFeatures& features = {}) {
    try {
        cdma_job(registers.values(), features);
        FAIL() << "not refused: " << text;
    } catch (const ConfigError& error) {
        EXPECT_THAT(error.sentence(), testing::HasSubstr(text));
    }
}

TEST(CdmaJob, FeatureRegistersDecodeToTheCubeAndItsFetch) {
    const CdmaJob job = cdma_job(feature_registers().values(), {});
    EXPECT_EQ(job.mode, ConvMode::Direct);
    EXPECT_EQ(job.feature, (FeatureCube{Address(0x1'8000'0040),
                                        Bytes(0x140),
                                        Bytes(0x2800),
                                        {19, 32, 40},
                                        Bytes(8),
                                        Bytes(1)}));
    EXPECT_EQ(job.lines_per_fetch, 5U);
    EXPECT_EQ(job.entries_per_slice, 120U);
    EXPECT_EQ(job.weight_address, Address(0x9000'0000));
    EXPECT_EQ(job.bytes_per_kernel, Bytes(27));
    EXPECT_EQ(job.kernels, 16U);
    EXPECT_EQ(job.banks, (BankSplit{2, 30}));
}

TEST(CdmaJob, OnlyPackedLinesAreFetchedSeveralAtATime) {
    const CdmaJob job = cdma_job(feature_registers().raw("D_DAIN_MAP", 0).values(), {});
    EXPECT_EQ(job.lines_per_fetch, 1U);
}

TEST(CdmaJob, PixelRegistersDecodeToTheSurfaceAndItsConversion) {
    const CdmaJob job = cdma_job(pixel_registers("T_A8B8G8R8").values(), {});
    EXPECT_EQ(job.mode, ConvMode::Image);
    EXPECT_EQ(job.pixels.format->name, "T_A8B8G8R8");
    EXPECT_EQ(job.pixels.shape(), (Shape{4, 32, 40}));
    EXPECT_EQ(job.pad_left, 2U);
    EXPECT_EQ(job.pad_right, 3U);
    EXPECT_EQ(job.pad_value, 0x91);
    EXPECT_TRUE(job.conversion.use_mean);
    EXPECT_EQ(job.conversion.mean, (std::array<std::int16_t, 4>{-6883, -30923, 5906, -5435}));
    EXPECT_EQ(job.conversion.scale, -1);
    EXPECT_EQ(job.conversion.truncate, 3U);
    EXPECT_FALSE(job.conversion.signed_input);
}

TEST(CdmaJob, RegistersThatFeatureModeDoesNotUseMayHoldAnything) {
    const CdmaJob expected = cdma_job(feature_registers().values(), {});
    std::mt19937 random(1);
    for (int round = 0; round < 50; ++round) {
        RegisterWriter registers = feature_registers();
        for (const std::string_view name :
             {"D_PIXEL_OFFSET", "D_DAIN_ADDR_HIGH_1", "D_DAIN_ADDR_LOW_1", "D_LINE_UV_STRIDE",
              "D_RESERVED_X_CFG", "D_RESERVED_Y_CFG", "D_BATCH_STRIDE", "D_WGS_ADDR_LOW",
              "D_WMB_ADDR_LOW", "D_WMB_BYTES", "D_MEAN_FORMAT", "D_MEAN_GLOBAL_0",
              "D_MEAN_GLOBAL_1", "D_CONV_STRIDE", "D_ZERO_PADDING", "D_ZERO_PADDING_VALUE",
              "D_DATAIN_SIZE_EXT_0", "D_NAN_FLUSH_TO_ZERO", "D_CYA"}) {
            registers.raw(name, static_cast<std::uint32_t>(random()));
        }
        registers.field("D_DATAIN_FORMAT", "PIXEL_FORMAT",
                        static_cast<std::uint32_t>(random() % 64));
        const CdmaJob job = cdma_job(registers.values(), {});
        ASSERT_EQ(job.feature, expected.feature);
        ASSERT_EQ(job.conversion, expected.conversion);
        ASSERT_EQ(job.pixels, expected.pixels);
        ASSERT_EQ(job.pad_left, 0U);
    }
}

TEST(CdmaJob, ChromaHasItsOwnPlane) {
    RegisterWriter registers = pixel_registers("T_Y8___V8U8_N444");
    registers.raw("D_DAIN_ADDR_LOW_1", 0x8100'0000).raw("D_LINE_UV_STRIDE", 0x280);
    const CdmaJob job = cdma_job(registers.values(), {});
    EXPECT_EQ(job.pixels.base[1], Address(0x8100'0000));
    EXPECT_EQ(job.pixels.line_stride[1], Bytes(0x280));
    expect_refused(registers.raw("D_LINE_UV_STRIDE", 0x281), "NVDLA_CDMA.D_LINE_UV_STRIDE_0");
}

TEST(CdmaJob, WeightsMayEndWithTheirLastEntry) {
    EXPECT_EQ(cdma_job(feature_registers().raw("D_WEIGHT_BYTES", 0x1b0).values(), {}).weight_bytes,
              Bytes(0x1b0));
    expect_refused(feature_registers().raw("D_WEIGHT_BYTES", 0x1b8), "multiple of 128 bytes");
}

TEST(CdmaJob, MisalignedSurfacesAreRefusedByRegister) {
    expect_refused(feature_registers().raw("D_DAIN_ADDR_LOW_0", 0x8000'0044),
                   "NVDLA_CDMA.D_DAIN_ADDR_LOW_0_0 = 0x80000044");
    expect_refused(feature_registers().raw("D_LINE_STRIDE", 0x141), "multiple of 8 bytes");
    expect_refused(feature_registers().raw("D_SURF_STRIDE", 0x2804), "D_SURF_STRIDE_0");
    expect_refused(feature_registers().raw("D_WEIGHT_BYTES", 0x210), "multiple of 128 bytes");
    ConvFeatures wide;
    wide.datapath.memory_atom = Bytes(32);
    wide.cbuf_entry = Bytes(64);
    expect_refused(feature_registers().raw("D_LINE_STRIDE", 0x148), "multiple of 32 bytes", wide);
}

TEST(CdmaJob, AbsentFeaturesAreRefusedByName) {
    expect_refused(feature_registers().field("D_MISC_CFG", "CONV_MODE", 1), "Winograd");
    expect_refused(feature_registers().field("D_MISC_CFG", "PROC_PRECISION", 2), "fp16");
    expect_refused(feature_registers().field("D_MISC_CFG", "IN_PRECISION", 1), "int16");
    expect_refused(feature_registers().raw("D_WEIGHT_FORMAT", 1), "compressed weights");
    expect_refused(feature_registers().raw("D_BATCH_NUMBER", 1), "more than one batch");
    expect_refused(feature_registers().raw("D_DAIN_RAM_TYPE", 0), "secondary memory port");
    expect_refused(pixel_registers("T_R16"), "T_R16 (16-bit elements)");
    expect_refused(pixel_registers("T_R8").field("D_DATAIN_FORMAT", "PIXEL_FORMAT", 40),
                   "PIXEL_FORMAT = 40");
}

TEST(CdmaJob, ChannelsAndOffsetMustFitThePixelFormat) {
    expect_refused(pixel_registers("T_R8").raw("D_DATAIN_SIZE_1", 3), "T_R8, which has 1");
    expect_refused(pixel_registers("T_A8B8G8R8").raw("D_PIXEL_OFFSET", 2), "X offset 2");
    EXPECT_EQ(
        cdma_job(pixel_registers("T_R8").raw("D_PIXEL_OFFSET", 7).values(), {}).pixels.x_offset,
        7U);
}

TEST(CdmaJob, FieldsThatNoHardwareReadsForPixelsMustBeZero) {
    EXPECT_NO_THROW(cdma_job(pixel_registers("T_R8").values(), {}));
    expect_refused(pixel_registers("T_R8").field("D_DATAIN_FORMAT", "PIXEL_MAPPING", 1),
                   "NVDLA_CDMA.D_DATAIN_FORMAT_0.PIXEL_MAPPING = 1: block linear images are not "
                   "available");
    expect_refused(pixel_registers("T_R8").field("D_PIXEL_OFFSET", "PIXEL_Y_OFFSET", 3),
                   "NVDLA_CDMA.D_PIXEL_OFFSET_0.PIXEL_Y_OFFSET = 3: this feature is not available");
    for (const std::string field : {"RSV_PER_LINE", "RSV_PER_UV_LINE"}) {
        expect_refused(pixel_registers("T_R8").field("D_RESERVED_X_CFG", field, 2), field + " = 2");
    }
    for (const std::string field : {"RSV_HEIGHT", "RSV_Y_INDEX"}) {
        expect_refused(pixel_registers("T_R8").field("D_RESERVED_Y_CFG", field, 1), field + " = 1");
    }
}

}  // namespace
}  // namespace npuscope
