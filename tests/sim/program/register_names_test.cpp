// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/program/read_program.h"
#include "tests/sim/program/program_samples.h"

namespace npuscope {
namespace {

TEST(RegisterNames, NameWithAndWithoutItsSuffixIsAnAddress) {
    const RegisterNames names = sample::names();
    EXPECT_EQ(names.address("NVDLA_CDMA.D_OP_ENABLE_0"), 0x5010U);
    EXPECT_EQ(names.address("NVDLA_CDMA.D_OP_ENABLE"), 0x5010U);
    EXPECT_EQ(names.address("NVDLA_CDMA.S_POINTER_0"), 0x5004U);
}

TEST(RegisterNames, ANameThatEndsInTheSuffixItselfIsFoundWithoutAnotherOne) {
    const RegisterNames names = sample::names();
    EXPECT_EQ(names.address("NVDLA_CDMA.D_DATAIN_SIZE_0"), 0x501cU);
    EXPECT_EQ(names.address("NVDLA_CDMA.D_DATAIN_SIZE_0_0"), 0x501cU);
    EXPECT_EQ(names.name(0x501c), "NVDLA_CDMA.D_DATAIN_SIZE_0_0");
}

TEST(RegisterNames, UnknownNameHasNoAddressButARemedy) {
    const RegisterNames names = sample::names();
    for (const char* name : {"", ".", "NVDLA_CDMA", "NVDLA_CDMA.", "NVDLA_CDMA._0", "X.Y_0"}) {
        EXPECT_EQ(names.address(name), std::nullopt) << name;
    }
    EXPECT_EQ(names.remedy("NVDLA_CDMA.D_OP_ENABEL_0"), "did you mean 'NVDLA_CDMA.D_OP_ENABLE_0'?");
    EXPECT_EQ(names.remedy("NVDLA_CDAM.D_OP_ENABLE_0"), "did you mean 'NVDLA_CDMA'?");
}

}  // namespace
}  // namespace npuscope
