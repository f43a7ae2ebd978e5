// SPDX-License-Identifier: Apache-2.0
#include "sim/program/program.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

TEST(Program, FillPatternsGiveTheirByte) {
    EXPECT_EQ(fill_byte(FillPattern::AllZero, Address(0x123)), 0x00);
    EXPECT_EQ(fill_byte(FillPattern::Ones, Address(0x123)), 0xff);
    EXPECT_EQ(fill_byte(FillPattern::AFive, Address(0x123)), 0xa5);
    EXPECT_EQ(fill_byte(FillPattern::FiveA, Address(0x123)), 0x5a);
    EXPECT_EQ(fill_byte(FillPattern::LowAddress, Address(0x123)), 0x23);
}

}  // namespace
}  // namespace npuscope
