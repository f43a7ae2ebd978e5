// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/base/error.h"
#include "models/conv/conv_registers.h"
#include "tests/models/layout/register_writer.h"
#include "tests/support/refusal.h"

namespace npuscope {
namespace {

CaccJob cacc_job(const RegisterValues& registers, const ConvFeatures& features = {}) {
    return decoded(
        [&](Diagnostics& findings) { return decode_cacc(registers, features, findings); });
}

RegisterWriter output_registers() {
    RegisterWriter registers(cacc_block);
    registers.int8()
        .raw("D_DATAOUT_SIZE_0", 0x002b'000b)
        .raw("D_DATAOUT_SIZE_1", 31)
        .raw("D_CLIP_CFG", 12)
        .raw("D_DATAOUT_MAP", 0x0001'0000);
    return registers;
}

TEST(CaccJob, RegistersDecodeToTheOutputAndItsTruncation) {
    const CaccJob job = cacc_job(output_registers().values());
    EXPECT_EQ(job.output, (Shape{32, 44, 12}));
    EXPECT_EQ(job.clip_truncate, 12U);
    EXPECT_FALSE(job.line_packed);
    EXPECT_TRUE(job.surface_packed);
}

TEST(CaccJob, AddressAndStridesHaveNoEffect) {
    RegisterWriter registers = output_registers();
    registers.raw("D_DATAOUT_ADDR", 0x87ca'8403).raw("D_LINE_STRIDE", 0x33).raw("D_CYA", 0xffff);
    EXPECT_EQ(cacc_job(registers.values()).output, (Shape{32, 44, 12}));
}

TEST(CaccJob, BatchesAndTwoByteDataAreRefused) {
    EXPECT_THROW(cacc_job(output_registers().raw("D_BATCH_NUMBER", 1).values()), ConfigError);
    EXPECT_THROW(cacc_job(output_registers().raw("D_MISC_CFG", 0x2000).values()), ConfigError);
}

}  // namespace
}  // namespace npuscope
