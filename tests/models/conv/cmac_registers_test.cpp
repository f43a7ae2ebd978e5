// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/base/error.h"
#include "models/conv/conv_registers.h"
#include "tests/models/layout/register_writer.h"
#include "tests/support/refusal.h"

namespace npuscope {
namespace {

CmacJob cmac_job(const RegisterValues& registers, const ConvFeatures& features = {}) {
    return decoded(
        [&](Diagnostics& findings) { return decode_cmac(registers, features, findings); });
}

TEST(CmacJob, BothHalvesDecodeInt8) {
    for (const RegisterBlock* half : {&cmac_a_block, &cmac_b_block}) {
        EXPECT_EQ(cmac_job(RegisterWriter(*half).int8().values()).precision, Precision::Int8);
    }
}

TEST(CmacJob, TheResetValueOfThePrecisionIsRefusedBecauseItIsInt16) {
    EXPECT_THROW(cmac_job(RegisterWriter(cmac_b_block).values()), ConfigError);
}

TEST(CmacJob, WinogradIsRefused) {
    EXPECT_THROW(cmac_job(RegisterWriter(cmac_a_block).raw("D_MISC_CFG", 1).values()), ConfigError);
}

}  // namespace
}  // namespace npuscope
