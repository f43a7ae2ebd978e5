// SPDX-License-Identifier: Apache-2.0
#include "models/csb/register_place.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

struct KnownAddress {
    const char* name;
    std::uint32_t address;
};

// source: NVDLA register specification, nv_small
constexpr KnownAddress nv_small_addresses[] = {{"NVDLA_CFGROM.CFGROM_HW_VERSION_0", 0x0},
                                               {"NVDLA_GLB.S_INTR_STATUS_0", 0x100c},
                                               {"NVDLA_MCIF.CFG_RD_WEIGHT_0_0", 0x2000},
                                               {"NVDLA_CDMA.D_OP_ENABLE_0", 0x3010},
                                               {"NVDLA_CDMA.D_DATAIN_SIZE_0_0", 0x301c},
                                               {"NVDLA_CDMA.D_DATAIN_SIZE_1_0", 0x3020},
                                               {"NVDLA_CDMA.D_CYA_0", 0x30e8},
                                               {"NVDLA_CSC.D_OP_ENABLE_0", 0x4008},
                                               {"NVDLA_CMAC_A.D_MISC_CFG_0", 0x500c},
                                               {"NVDLA_CMAC_B.S_POINTER_0", 0x6004},
                                               {"NVDLA_CACC.D_OUT_SATURATION_0", 0x7030},
                                               {"NVDLA_SDP_RDMA.D_OP_ENABLE_0", 0x8008},
                                               {"NVDLA_SDP.D_OP_ENABLE_0", 0x9038},
                                               {"NVDLA_SDP.S_LUT_ACCESS_DATA_0", 0x900c},
                                               {"NVDLA_PDP_RDMA.S_STATUS_0", 0xa000},
                                               {"NVDLA_PDP.D_OP_ENABLE_0", 0xb008},
                                               {"NVDLA_CDP_RDMA.S_POINTER_0", 0xc004},
                                               {"NVDLA_CDP.D_OP_ENABLE_0", 0xd048},
                                               {"NVDLA_CVIF.STATUS_0", 0xf018},
                                               {"NVDLA_BDMA.CFG_LAUNCH0_0", 0x10034},
                                               {"NVDLA_RBK.S_STATUS_0", 0x11000}};

// source: register header of nv_full's C model
constexpr KnownAddress nv_full_addresses[] = {{"NVDLA_GLB.S_INTR_MASK_0", 0x4},
                                              {"NVDLA_BDMA.CFG_DST_SURF_0", 0x402c},
                                              {"NVDLA_CDMA.D_DATAIN_SIZE_0_0", 0x501c},
                                              {"NVDLA_SDP_RDMA.D_SRC_BASE_ADDR_LOW_0", 0xa018},
                                              {"NVDLA_SDP.S_POINTER_0", 0xb004}};

TEST(RegisterPlaceTest, names_and_addresses_lead_to_the_same_register_in_nv_small) {
    for (const KnownAddress& known : nv_small_addresses) {
        const auto by_name = find_register_by_name(known.name);
        ASSERT_TRUE(by_name.has_value()) << known.name;
        EXPECT_EQ(by_name->address(), known.address) << known.name;
        EXPECT_EQ(by_name->name(), known.name);
        const auto by_address = find_register_by_address(known.address);
        ASSERT_TRUE(by_address.has_value()) << known.name;
        EXPECT_EQ(by_address->row, by_name->row) << known.name;
    }
}

TEST(RegisterPlaceTest, names_and_addresses_lead_to_the_same_register_in_nv_full) {
    for (const KnownAddress& known : nv_full_addresses) {
        const auto by_name = find_register_by_name(known.name, AddressMap::NvFull);
        ASSERT_TRUE(by_name.has_value()) << known.name;
        EXPECT_EQ(by_name->address(), known.address) << known.name;
        const auto by_address = find_register_by_address(known.address, AddressMap::NvFull);
        ASSERT_TRUE(by_address.has_value()) << known.name;
        EXPECT_EQ(by_address->name(), known.name);
    }
}

TEST(RegisterPlaceTest, every_register_is_found_by_its_own_name_and_address) {
    for (const AddressMap map : {AddressMap::NvSmall, AddressMap::NvFull}) {
        for (const RegisterBlock& block : nvdla_register_blocks(map)) {
            for (const RegisterRow& row : block.rows) {
                const RegisterPlace place{&block, &row};
                EXPECT_EQ(find_register_by_name(place.name(), map)->row, &row) << place.name();
                EXPECT_EQ(find_register_by_address(place.address(), map)->row, &row)
                    << place.name();
            }
        }
    }
}

TEST(RegisterPlaceTest, the_suffix_may_be_left_out) {
    EXPECT_EQ(find_register_by_name("NVDLA_SDP.D_CVT_SHIFT")->name(), "NVDLA_SDP.D_CVT_SHIFT_0");
    EXPECT_EQ(find_register_by_name("NVDLA_CDMA.D_DATAIN_SIZE_0")->name(),
              "NVDLA_CDMA.D_DATAIN_SIZE_0_0");
}

TEST(RegisterPlaceTest, unknown_names_and_addresses_are_not_found) {
    for (const char* name : {"NVDLA_CDMA.D_OP_ENABLED_0", "NVDLA_CDMX.D_OP_ENABLE_0", "NVDLA_CDMA",
                             "D_OP_ENABLE_0", "NVDLA_CDMA.", "", "NVDLA_CDMA._0"}) {
        EXPECT_EQ(find_register_by_name(name), std::nullopt) << name;
    }
    for (const std::uint32_t address : {0x3012U, 0x3ffcU, 0xe000U, 0x12000U, 0xfffffffcU}) {
        EXPECT_EQ(find_register_by_address(address), std::nullopt) << address;
    }
}

TEST(RegisterPlaceTest, a_misspelt_name_leads_to_its_nearest) {
    EXPECT_EQ(nearest_register_name("NVDLA_CDMA.D_OP_ENABEL_0"), "NVDLA_CDMA.D_OP_ENABLE_0");
    EXPECT_EQ(nearest_register_name("NVDLA_SPD.D_CVT_SHIFT_0"), "NVDLA_SDP.D_CVT_SHIFT_0");
}

}  // namespace
}  // namespace npuscope
