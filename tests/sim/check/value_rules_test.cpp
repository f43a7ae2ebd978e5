// SPDX-License-Identifier: Apache-2.0
// Programs that real hardware ran, each with one mistake: the rules about values of
// registers and tables fire for it, and are silent about the program itself.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "models/npu/register_blocks.h"
#include "sim/check/check_report.h"
#include "sim/config/preset.h"
#include "sim/program/read_program.h"
#include "tests/sim/check/damaged_program.h"

namespace npuscope {
namespace {

using sample::Damaged;

TEST(ValueRules, RegistersWhoseResetValueIsSeldomMeantAreWritten) {
    for (const auto& [folder, npu, name] :
         {std::tuple{"rtl/pdp_8x8x64_avg8", "nv_small", "NVDLA_PDP.D_OPERATION_MODE_CFG"},
          std::tuple{"nv_full/bdma_2_3d", "nv_full", "NVDLA_BDMA.CFG_LINE_REPEAT"},
          std::tuple{"nv_full/rbk_merge_f16_0", "nv_full", "NVDLA_RBK.D_DATAIN_SIZE_0"},
          std::tuple{"nv_full/cdp_f16_0", "nv_full", "NVDLA_CDP.D_DATIN_SHIFTER"}}) {
        Damaged good(folder, npu);
        EXPECT_FALSE(sample::finds(good.checked(), "register_unwritten", name));
        std::erase_if(good.program.statements, [name = std::string(name)](const Statement& one) {
            const auto* write = std::get_if<WriteRegister>(&one.action);
            return write != nullptr && write->name == name + "_0";
        });
        EXPECT_TRUE(sample::finds(good.checked(), "register_unwritten", name))
            << sample::kinds_of(good.checked());
    }
}

TEST(ValueRules, ATableThatIsLoadedInPartIsFound) {
    Damaged good("nv_full/cdp_f16_0", "nv_full");
    bool left = false;
    std::erase_if(good.program.statements, [&](const Statement& statement) {
        const auto* write = std::get_if<WriteRegister>(&statement.action);
        const bool entry = write != nullptr && write->name == "NVDLA_CDP.S_LUT_ACCESS_DATA_0";
        return entry && !std::exchange(left, true);
    });
    EXPECT_TRUE(sample::finds(good.checked(), "lut_incomplete", "NVDLA_CDP.S_LUT_ACCESS_CFG"))
        << sample::kinds_of(good.checked());
    std::erase_if(good.program.statements, [](const Statement& statement) {
        const auto* write = std::get_if<WriteRegister>(&statement.action);
        return write != nullptr && write->name.starts_with("NVDLA_CDP.S_LUT_ACCESS");
    });
    EXPECT_TRUE(sample::finds(good.checked(), "lut_incomplete", "NVDLA_CDP.S_LUT_ACCESS_CFG"))
        << sample::kinds_of(good.checked());
}

TEST(ValueRules, AnOperandThatIsFetchedAndNotTakenIsFound) {
    Damaged good("nv_full/sdp_ew_f16_3", "nv_full");
    EXPECT_TRUE(good.checked().clean()) << sample::kinds_of(good.checked());
    // BS is active, with an operand from its register, and its read DMA fetches one for its adder
    good.change("NVDLA_SDP.D_DP_BS_CFG", [](std::uint32_t) { return 0x58; });
    good.change("NVDLA_SDP_RDMA.D_BRDMA_CFG", [](std::uint32_t) { return 0x32; });
    EXPECT_TRUE(sample::finds(good.checked(), "operand_unused", "NVDLA_SDP.D_DP_BS_ALU_CFG"))
        << sample::kinds_of(good.checked());
}

TEST(ValueRules, SlopesForEachElementAreTold) {
    Damaged good("nv_full/sdp_ew_f16_3", "nv_full");
    good.change("NVDLA_SDP.D_DP_BS_CFG", [](std::uint32_t) { return 0x62; });
    good.change("NVDLA_SDP.D_DP_BS_MUL_CFG", [](std::uint32_t) { return 1; });
    good.change("NVDLA_SDP_RDMA.D_BRDMA_CFG", [](std::uint32_t) { return 0x38; });
    EXPECT_TRUE(sample::finds(good.checked(), "prelu_per_element", "NVDLA_SDP_RDMA.D_BRDMA_CFG"));
    good.change("NVDLA_SDP_RDMA.D_BRDMA_CFG", [](std::uint32_t) { return 0x28; });
    EXPECT_FALSE(sample::finds(good.checked(), "prelu_per_element"));
}

TEST(ValueRules, OperandsOfFp16HaveTwoBytes) {
    Damaged good("nv_full/sdp_ew_f16_3", "nv_full");
    good.change("NVDLA_SDP.D_DP_BS_CFG", [](std::uint32_t) { return 0x62; });
    good.change("NVDLA_SDP.D_DP_BS_MUL_CFG", [](std::uint32_t) { return 1; });
    good.change("NVDLA_SDP_RDMA.D_BRDMA_CFG", [](std::uint32_t) { return 0x28; });
    EXPECT_FALSE(sample::finds(good.checked(), "register_value"));
    good.change("NVDLA_SDP_RDMA.D_BRDMA_CFG", [](std::uint32_t) { return 0x20; });
    EXPECT_TRUE(sample::finds(good.checked(), "register_value", "NVDLA_SDP_RDMA.D_BRDMA_CFG"));
}

TEST(ValueRules, AResultOfWinogradIsNotConvertedOnTheFly) {
    Damaged good("nv_full/wino_i8_9_pra1", "nv_full");
    EXPECT_FALSE(sample::finds(good.checked(), "precision_conversion"));
    good.change("NVDLA_SDP.D_DATA_FORMAT", [](std::uint32_t) { return 4; });
    EXPECT_TRUE(sample::finds(good.checked(), "precision_conversion", "NVDLA_SDP.D_DATA_FORMAT"));
}

TEST(ValueRules, AScaleOfZeroIsFound) {
    Damaged good("rtl/fz056", "nv_small");
    good.change("NVDLA_SDP.D_CVT_SCALE", [](std::uint32_t) { return 0; });
    EXPECT_TRUE(sample::finds(good.checked(), "suspicious_register", "NVDLA_SDP.D_CVT_SCALE"))
        << sample::kinds_of(good.checked());
}

TEST(ValueRules, WhatFp16IgnoresIsTold) {
    struct Row {
        const char* folder;
        const char* register_name;
        std::uint32_t value;
        bool told = true;
    };
    for (const auto& [folder, name, value, told] :
         {Row{"nv_full/sdp_ew_f16_3", "NVDLA_SDP.D_CVT_OFFSET", 7},
          Row{"nv_full/sdp_ew_f16_3", "NVDLA_SDP.D_CVT_SCALE", 2},
          Row{"nv_full/sdp_ew_f16_3", "NVDLA_SDP.D_CVT_SCALE", 0, false},
          Row{"nv_full/sdp_ew_f16_3", "NVDLA_SDP.D_CVT_SHIFT", 3},
          Row{"nv_full/sdp_ew_f16_3", "NVDLA_SDP.D_DP_EW_TRUNCATE_VALUE", 1},
          Row{"nv_full/cdp_f16_0", "NVDLA_CDP.D_DATIN_OFFSET", 9},
          Row{"nv_full/cdp_f16_0", "NVDLA_CDP.D_DATIN_SCALE", 3},
          Row{"nv_full/cdp_f16_0", "NVDLA_CDP.D_DATOUT_SHIFTER", 1},
          Row{"nv_full/convf16_wide_0", "NVDLA_CDMA.D_CVT_CFG", 0x31},
          Row{"nv_full/convf16_wide_0", "NVDLA_CDMA.D_CVT_CFG", 0x1, false},
          Row{"nv_full/convf16_wide_0", "NVDLA_CDMA.D_CVT_OFFSET", 7, false}}) {  // CVT_EN is 0
        Damaged good(folder, "nv_full");
        EXPECT_FALSE(sample::finds(good.checked(), "suspicious_register")) << folder;
        good.change(name, [by = value](std::uint32_t) { return by; });
        EXPECT_EQ(sample::finds(good.checked(), "suspicious_register"), told) << name;
        EXPECT_EQ(sample::finds(good.checked(), "suspicious_register", name), told) << name;
    }
}

}  // namespace
}  // namespace npuscope
