// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/base/check.h"
#include "models/conv/conv_registers.h"
#include "models/layout/register_coder.h"
#include "models/sdp/sdp_registers.h"

namespace npuscope {
namespace {

TEST(RegisterEncoder, StartsAtTheResetValues) {
    const RegisterEncoder encoder(cdma_block);
    EXPECT_EQ(encoder.values().words(), RegisterValues(cdma_block).words());
}

TEST(RegisterEncoder, KeepsTheOtherFieldsOfARegister) {
    RegisterEncoder encoder(cdma_block);
    encoder.size("D_BANK", "DATA_BANK", 5);
    encoder.size("D_BANK", "WEIGHT_BANK", 27);
    EXPECT_EQ(encoder.values().raw("D_BANK"), 0x1a0004U);
    encoder.field("D_BANK", "DATA_BANK", 0U);
    EXPECT_EQ(encoder.values().raw("D_BANK"), 0x1a0000U);
}

TEST(RegisterEncoder, HoldsNegativeNumbersInTheFieldsWidth) {
    RegisterEncoder encoder(sdp_block);
    encoder.signed_field("D_CVT_OFFSET", "CVT_OFFSET", -3);
    encoder.signed_field("D_CVT_SCALE", "CVT_SCALE", -1);
    EXPECT_EQ(encoder.values().raw("D_CVT_SCALE"), 0xffffU);
    EXPECT_EQ(encoder.values().signed_field("D_CVT_OFFSET", "CVT_OFFSET"), -3);
}

TEST(RegisterEncoder, SpreadsAnAddressOverTwoRegisters) {
    RegisterEncoder encoder(sdp_block);
    encoder.start("DST", DataKind::Feature, Bytes(8), Address(0x1234567890));
    EXPECT_EQ(encoder.values().raw("D_DST_BASE_ADDR_LOW"), 0x34567890U);
    EXPECT_EQ(encoder.values().raw("D_DST_BASE_ADDR_HIGH"), 0x12U);
}

TEST(RegisterEncoder, RefusesWhatDoesNotFit) {
    RegisterEncoder encoder(cdma_block);
    EXPECT_THROW(encoder.size("D_BANK", "DATA_BANK", 33), InternalError);
    EXPECT_THROW(encoder.size("D_BANK", "DATA_BANK", 0), InternalError);
    EXPECT_THROW(encoder.field("D_BANK", "BANKS", 0U), InternalError);
    EXPECT_THROW(encoder.signed_field("D_CVT_SCALE", "CVT_SCALE", 32768), InternalError);
    EXPECT_THROW(encoder.bytes("D_WMB_BYTES", Bytes(1U << 28U)), InternalError);
}

}  // namespace
}  // namespace npuscope
