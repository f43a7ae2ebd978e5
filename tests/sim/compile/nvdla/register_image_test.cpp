// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/register_image.h"

#include <gtest/gtest.h>

#include "models/base/check.h"
#include "models/csb/register_blocks.h"

namespace npuscope {
namespace {

TEST(RegisterImage, StartsAtTheResetValues) {
    const RegisterImage image("NVDLA_CDMA");
    const RegisterValues reset(*find_block("NVDLA_CDMA"));
    for (const RegisterRow& row : image.block().rows) {
        EXPECT_EQ(image.decoded().raw(row.name), reset.raw(row.name)) << row.name;
    }
}

TEST(RegisterImage, KeepsTheOtherFieldsOfARegister) {
    RegisterImage image("NVDLA_CDMA");
    image.size("D_BANK", "DATA_BANK", 5)
        .size("D_BANK", "WEIGHT_BANK", 27)
        .flag("D_CVT_CFG", "CVT_EN", true);
    EXPECT_EQ(image.decoded().raw("D_BANK"), 0x1a0004U);
    image.field("D_BANK", "DATA_BANK", 0);
    EXPECT_EQ(image.decoded().raw("D_BANK"), 0x1a0000U);
}

TEST(RegisterImage, HoldsNegativeNumbersInTheFieldsWidth) {
    RegisterImage image("NVDLA_SDP");
    image.signed_field("D_CVT_OFFSET", "CVT_OFFSET", -3)
        .signed_field("D_CVT_SCALE", "CVT_SCALE", -1);
    EXPECT_EQ(image.decoded().raw("D_CVT_SCALE"), 0xffffU);
    EXPECT_EQ(image.decoded().signed_field("D_CVT_OFFSET", "CVT_OFFSET"), -3);
}

TEST(RegisterImage, SpreadsAnAddressOverTwoRegisters) {
    RegisterImage image("NVDLA_SDP");
    image.address("DST_BASE_ADDR", Address(0x1234567890));
    EXPECT_EQ(image.decoded().raw("D_DST_BASE_ADDR_LOW"), 0x34567890U);
    EXPECT_EQ(image.decoded().raw("D_DST_BASE_ADDR_HIGH"), 0x12U);
}

TEST(RegisterImage, RefusesWhatDoesNotFit) {
    RegisterImage image("NVDLA_CDMA");
    EXPECT_THROW(image.size("D_BANK", "DATA_BANK", 33), InternalError);
    EXPECT_THROW(image.size("D_BANK", "DATA_BANK", 0), InternalError);
    EXPECT_THROW(image.field("D_BANK", "BANKS", 0), InternalError);
    EXPECT_THROW(image.signed_field("D_CVT_SCALE", "CVT_SCALE", 32768), InternalError);
    EXPECT_THROW(RegisterImage("NVDLA_NONE"), InternalError);
}

}  // namespace
}  // namespace npuscope
