// SPDX-License-Identifier: Apache-2.0
#include "models/bdma/bdma_registers.h"

#include <gtest/gtest.h>

#include "tests/support/registers.h"

namespace npuscope {
namespace {

TEST(BdmaJob, LinesRepeatInTwoDirections) {
    RegisterValues bdma(bdma_block);
    write_field(bdma, "CFG_SRC_ADDR_LOW", "V32", 0x80001000U >> 5U);
    write_field(bdma, "CFG_SRC_ADDR_HIGH", "V8", 2);
    write_field(bdma, "CFG_DST_ADDR_LOW", "V32", 0x50000000U >> 5U);
    write_field(bdma, "CFG_LINE", "SIZE", 3);
    write_field(bdma, "CFG_CMD", "SRC_RAM_TYPE", 1);
    write_field(bdma, "CFG_LINE_REPEAT", "NUMBER", 4);
    write_field(bdma, "CFG_SRC_LINE", "STRIDE", 0x100 >> 5);
    write_field(bdma, "CFG_DST_LINE", "STRIDE", 0x80 >> 5);
    write_field(bdma, "CFG_SURF_REPEAT", "NUMBER", 1);
    write_field(bdma, "CFG_SRC_SURF", "STRIDE", 0x1000 >> 5);
    write_field(bdma, "CFG_DST_SURF", "STRIDE", 0x400 >> 5);
    BdmaConfig config;
    config.present = true;
    Diagnostics findings;
    const BdmaJob job = *decode_bdma(bdma, config, Bytes(32), findings);
    EXPECT_EQ(job.line, Bytes(128));
    EXPECT_EQ(job.lines, 5U);
    EXPECT_EQ(job.surfaces, 2U);
    EXPECT_FALSE(job.source.in_sram);
    EXPECT_TRUE(job.destination.in_sram);
    EXPECT_EQ(job.source.line(4, 1), Address(0x280001000 + 0x400 + 0x1000));
    EXPECT_EQ(job.destination.line(4, 1), Address(0x50000000 + 0x200 + 0x400));
}

TEST(BdmaJob, AnNpuWithoutTheUnitRefuses) {
    RegisterValues bdma(bdma_block);
    write_field(bdma, "CFG_OP", "EN", 1);
    Diagnostics findings;
    EXPECT_FALSE(decode_bdma(bdma, {}, Bytes(8), findings).has_value());
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0].sentence, "NVDLA_BDMA.CFG_OP_0.EN = 1: this NPU has no BDMA");
    EXPECT_EQ(findings[0].register_name, "NVDLA_BDMA.CFG_OP_0");
    EXPECT_EQ(findings[0].field, "EN");
}

TEST(BdmaJob, RegistersOfAJobDecodeToTheJob) {
    std::mt19937 random(31);
    BdmaConfig config;
    config.present = true;
    for (int i = 0; i < 200; ++i) {
        RegisterValues bdma(bdma_block);
        randomise_registers(bdma, random);
        write_field(bdma, "CFG_LINE", "SIZE", below(random, 100));
        write_field(bdma, "CFG_LINE_REPEAT", "NUMBER", below(random, 100));
        write_field(bdma, "CFG_SURF_REPEAT", "NUMBER", below(random, 100));
        Diagnostics findings;
        const auto job = decode_bdma(bdma, config, Bytes(32), findings);
        ASSERT_TRUE(job.has_value());
        EXPECT_EQ(decode_bdma(encode_bdma(*job, Bytes(32)), config, Bytes(32), findings), job);
    }
}

}  // namespace
}  // namespace npuscope
