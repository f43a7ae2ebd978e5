// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "models/base/error.h"
#include "models/conv/conv_registers.h"
#include "tests/models/layout/register_writer.h"
#include "tests/support/refusal.h"

namespace npuscope {
namespace {

CscJob csc_job(const RegisterValues& registers, const ConvFeatures& features = {}) {
    return decoded(
        [&](Diagnostics& findings) { return decode_csc(registers, features, findings); });
}

RegisterWriter direct_registers() {
    RegisterWriter registers(csc_block);
    registers.raw("D_MISC_CFG", 0x1100'0000)
        .raw("D_DATAIN_SIZE_EXT_0", 0x0007'0009)
        .raw("D_DATAIN_SIZE_EXT_1", 35)
        .raw("D_WEIGHT_SIZE_EXT_0", 0x0003'0002)
        .raw("D_WEIGHT_SIZE_EXT_1", 0x000f'0023)
        .raw("D_WEIGHT_BYTES", 0x2400)
        .raw("D_ENTRY_PER_SLICE", 0x27)
        .raw("D_DATAOUT_SIZE_0", 0x0001'0002)
        .raw("D_DATAOUT_SIZE_1", 15)
        .raw("D_ATOMICS", 5)
        .raw("D_RELEASE", 6)
        .raw("D_CONV_STRIDE_EXT", 0x0002'0001)
        .raw("D_DILATION_EXT", 0x0001'0003)
        .raw("D_ZERO_PADDING", 0x0002'0001)
        .raw("D_ZERO_PADDING_VALUE", 0x4e33)
        .raw("D_BANK", 0x0003'0004);
    return registers;
}

TEST(CscJob, RegistersDecodeToSizesThatCountFromOne) {
    const CscJob job = csc_job(direct_registers().values());
    EXPECT_EQ(job.mode, ConvMode::Direct);
    EXPECT_EQ(job.input, (Shape{36, 8, 10}));
    EXPECT_EQ(job.kernels, (KernelShape{16, 36, 4, 3}));
    EXPECT_EQ(job.output, (Shape{16, 2, 3}));
    EXPECT_EQ(job.atomics, 6U);
    EXPECT_EQ(job.release_slices, 7U);
    EXPECT_EQ(job.stride_y, 3U);
    EXPECT_EQ(job.stride_x, 2U);
    EXPECT_EQ(job.dilation_y, 2U);
    EXPECT_EQ(job.dilation_x, 4U);
    EXPECT_EQ(job.pad_top, 2U);
    EXPECT_EQ(job.pad_left, 1U);
    EXPECT_EQ(job.pad_value, 0x4e33);
    EXPECT_EQ(job.banks, (BankSplit{5, 4}));
    EXPECT_EQ(job.reuse, (BufferReuse{false, false, true, true}));
}

TEST(CscJob, ImagesAreNeitherDilatedNorPaddedOnTheLeftHere) {
    const CscJob job = csc_job(direct_registers().raw("D_DATAIN_FORMAT", 1).values());
    EXPECT_EQ(job.mode, ConvMode::Image);
    EXPECT_EQ(job.dilation_x, 1U);
    EXPECT_EQ(job.dilation_y, 1U);
    EXPECT_EQ(job.pad_left, 0U);
    EXPECT_EQ(job.pad_top, 2U);
}

TEST(CscJob, RowGroupsAreOneTwoOrFourRows) {
    EXPECT_EQ(csc_job(direct_registers().raw("D_POST_Y_EXTENSION", 2).values()).row_group, 4U);
    EXPECT_THROW(csc_job(direct_registers().raw("D_POST_Y_EXTENSION", 3).values()), ConfigError);
}

TEST(CscJob, AbsentFeaturesAreRefusedByName) {
    const auto refusal = [](const RegisterWriter& registers) -> std::string {
        try {
            csc_job(registers.values());
            return "accepted";
        } catch (const ConfigError& error) {
            return error.sentence();
        }
    };
    EXPECT_THAT(refusal(direct_registers().field("D_MISC_CFG", "CONV_MODE", 1)),
                testing::HasSubstr("NVDLA_CSC.D_MISC_CFG_0.CONV_MODE = 1: Winograd"));
    EXPECT_THAT(refusal(direct_registers().raw("D_WEIGHT_FORMAT", 1)),
                testing::HasSubstr("compressed weights are not available"));
    EXPECT_THAT(refusal(direct_registers().raw("D_BATCH_NUMBER", 3)),
                testing::HasSubstr("more than one batch"));
    EXPECT_THAT(refusal(direct_registers().field("D_MISC_CFG", "PROC_PRECISION", 1)),
                testing::HasSubstr("PROC_PRECISION = 1: int16"));
}

}  // namespace
}  // namespace npuscope
