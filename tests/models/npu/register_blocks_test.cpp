// SPDX-License-Identifier: Apache-2.0
#include "models/npu/register_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace npuscope {
namespace {

class BothAddressMaps : public ::testing::TestWithParam<AddressMap> {};

INSTANTIATE_TEST_SUITE_P(RegisterBlocksTest, BothAddressMaps,
                         ::testing::Values(AddressMap::NvSmall, AddressMap::NvFull),
                         [](const auto& instance) {
                             return std::string(enum_name(instance.param));
                         });

std::uint32_t field_mask(const RegisterField& field) {
    const std::uint64_t ones = (std::uint64_t{1} << field.width) - 1;
    return static_cast<std::uint32_t>(ones << field.lsb);
}

TEST_P(BothAddressMaps, blocks_have_names_and_aligned_bases_of_their_own) {
    std::set<std::string_view> names;
    std::set<std::uint32_t> bases;
    for (const RegisterBlock& block : nvdla_register_blocks(GetParam())) {
        EXPECT_TRUE(names.insert(block.name).second) << block.name;
        EXPECT_TRUE(bases.insert(block.base).second) << block.name;
        EXPECT_EQ(block.base % register_block_size.value, 0U) << block.name;
        EXPECT_FALSE(block.rows.empty()) << block.name;
    }
}

TEST_P(BothAddressMaps, registers_are_aligned_words_inside_their_block_with_unique_names) {
    for (const RegisterBlock& block : nvdla_register_blocks(GetParam())) {
        std::set<std::string_view> names;
        std::set<std::uint32_t> offsets;
        for (const RegisterRow& row : block.rows) {
            EXPECT_TRUE(names.insert(row.name).second) << spelled(block.name, row.name);
            EXPECT_TRUE(offsets.insert(row.offset).second) << spelled(block.name, row.name);
            EXPECT_EQ(row.offset % 4, 0U) << spelled(block.name, row.name);
            EXPECT_LT(row.offset, register_block_size.value) << spelled(block.name, row.name);
        }
    }
}

TEST_P(BothAddressMaps, fields_fit_their_register_and_do_not_overlap) {
    for (const RegisterBlock& block : nvdla_register_blocks(GetParam())) {
        for (const RegisterRow& row : block.rows) {
            std::uint32_t taken = 0;
            std::set<std::string_view> names;
            EXPECT_FALSE(row.fields.empty()) << spelled(block.name, row.name);
            for (const RegisterField& field : row.fields) {
                const std::string where =
                    spelled(block.name, row.name) + " " + std::string(field.name);
                EXPECT_GE(field.width, 1) << where;
                EXPECT_LE(field.lsb + field.width, 32) << where;
                EXPECT_EQ(taken & field_mask(field), 0U) << where;
                EXPECT_EQ((std::uint64_t{field.reset} << field.lsb) & ~field_mask(field), 0U)
                    << where;
                EXPECT_TRUE(names.insert(field.name).second) << where;
                taken |= field_mask(field);
            }
        }
    }
}

TEST_P(BothAddressMaps, grouped_registers_stand_above_the_shared_ones_from_op_enable_on) {
    for (const RegisterBlock& block : nvdla_register_blocks(GetParam())) {
        const RegisterRow* enable = find_register(block, "D_OP_ENABLE");
        if (enable == nullptr) {
            continue;
        }
        EXPECT_NE(find_register(block, "S_POINTER"), nullptr) << block.name;
        EXPECT_NE(find_register(block, "S_STATUS"), nullptr) << block.name;
        for (const RegisterRow& row : block.rows) {
            EXPECT_EQ(row.name.starts_with("D_"), row.offset >= enable->offset)
                << spelled(block.name, row.name);
        }
    }
}

TEST_P(BothAddressMaps, a_register_without_its_suffix_is_never_another_register) {
    for (const RegisterBlock& block : nvdla_register_blocks(GetParam())) {
        for (const RegisterRow& row : block.rows) {
            EXPECT_EQ(find_register(block, std::string(row.name) + "_0"), nullptr)
                << spelled(block.name, row.name);
        }
    }
}

TEST(RegisterBlocksTest, nv_small_has_the_published_number_of_registers) {
    std::size_t registers = 0;
    for (const RegisterBlock& block : nvdla_register_blocks()) {
        registers += block.rows.size();
    }
    EXPECT_EQ(registers, 499U);  // source: NVDLA register specification: 531 with the 32 of GEC
}

TEST(RegisterBlocksTest, blocks_are_found_by_their_published_name) {
    ASSERT_NE(find_block(nvdla_register_blocks(), "NVDLA_CDMA"), nullptr);
    EXPECT_EQ(find_block(nvdla_register_blocks(), "NVDLA_CDMA")->base, 0x3000U);
    EXPECT_EQ(find_block(nvdla_register_blocks(AddressMap::NvFull), "NVDLA_CDMA")->base, 0x5000U);
    EXPECT_EQ(find_block(nvdla_register_blocks(), "CDMA"), nullptr);
    EXPECT_EQ(find_block(nvdla_register_blocks(AddressMap::NvFull), "NVDLA_CFGROM"), nullptr);
}

TEST(RegisterBlocksTest, the_sdp_stages_are_bypassed_after_reset_in_nv_small_only) {
    for (const char* name : {"D_DP_BS_CFG", "D_DP_BN_CFG", "D_DP_EW_CFG"}) {
        const RegisterValues small(*find_block(nvdla_register_blocks(), "NVDLA_SDP"));
        const RegisterValues full(
            *find_block(nvdla_register_blocks(AddressMap::NvFull), "NVDLA_SDP"));
        EXPECT_EQ(small.raw(name) & 1U, 1U) << name;
        EXPECT_EQ(full.raw(name), 0U) << name;
    }
    const RegisterValues full(
        *find_block(nvdla_register_blocks(AddressMap::NvFull), "NVDLA_SDP_RDMA"));
    EXPECT_EQ(full.raw("D_NRDMA_CFG"), 0U);
    EXPECT_EQ(full.raw("D_ERDMA_CFG"), 0U);
}

TEST(RegisterBlocksTest, op_enable_can_be_written_and_status_cannot) {
    for (const RegisterBlock& block : nvdla_register_blocks()) {
        for (const RegisterRow& row : block.rows) {
            if (row.name == "D_OP_ENABLE") {
                EXPECT_EQ(write_mask(row), 1U) << block.name;
            } else if (row.name == "S_STATUS") {
                EXPECT_EQ(write_mask(row), 0U) << block.name;
            } else if (row.name == "S_POINTER") {
                EXPECT_EQ(write_mask(row), 1U) << block.name;
            }
        }
    }
}

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
        const auto by_name = find_place(nvdla_register_blocks(), known.name);
        ASSERT_TRUE(by_name.has_value()) << known.name;
        EXPECT_EQ(by_name->address(), known.address) << known.name;
        EXPECT_EQ(by_name->name(), known.name);
        const auto by_address = find_place(nvdla_register_blocks(), known.address);
        ASSERT_TRUE(by_address.has_value()) << known.name;
        EXPECT_EQ(by_address->row, by_name->row) << known.name;
    }
}

TEST(RegisterPlaceTest, names_and_addresses_lead_to_the_same_register_in_nv_full) {
    for (const KnownAddress& known : nv_full_addresses) {
        const auto by_name = find_place(nvdla_register_blocks(AddressMap::NvFull), known.name);
        ASSERT_TRUE(by_name.has_value()) << known.name;
        EXPECT_EQ(by_name->address(), known.address) << known.name;
        const auto by_address =
            find_place(nvdla_register_blocks(AddressMap::NvFull), known.address);
        ASSERT_TRUE(by_address.has_value()) << known.name;
        EXPECT_EQ(by_address->name(), known.name);
    }
}

TEST(RegisterPlaceTest, every_register_is_found_by_its_own_name_and_address) {
    for (const AddressMap map : {AddressMap::NvSmall, AddressMap::NvFull}) {
        for (const RegisterBlock& block : nvdla_register_blocks(map)) {
            for (const RegisterRow& row : block.rows) {
                const RegisterPlace place{&block, &row};
                EXPECT_EQ(find_place(nvdla_register_blocks(map), place.name())->row, &row)
                    << place.name();
                EXPECT_EQ(find_place(nvdla_register_blocks(map), place.address())->row, &row)
                    << place.name();
            }
        }
    }
}

TEST(RegisterPlaceTest, the_suffix_may_be_left_out) {
    EXPECT_EQ(find_place(nvdla_register_blocks(), "NVDLA_SDP.D_CVT_SHIFT")->name(),
              "NVDLA_SDP.D_CVT_SHIFT_0");
    EXPECT_EQ(find_place(nvdla_register_blocks(), "NVDLA_CDMA.D_DATAIN_SIZE_0")->name(),
              "NVDLA_CDMA.D_DATAIN_SIZE_0_0");
}

TEST(RegisterPlaceTest, names_that_end_in_the_suffix_themselves_are_found_without_another_one) {
    std::size_t ambiguous = 0;
    for (const RegisterBlock& block : nvdla_register_blocks()) {
        for (const RegisterRow& row : block.rows) {
            const std::string bare = std::string(block.name) + "." + std::string(row.name);
            const auto place = find_place(nvdla_register_blocks(), bare);
            ASSERT_TRUE(place.has_value()) << bare;
            EXPECT_EQ(place->row, &row) << bare;
            ambiguous += row.name.ends_with("_0") ? 1U : 0U;
        }
    }
    EXPECT_GE(ambiguous, 9U);
}

TEST(RegisterPlaceTest, unknown_names_and_addresses_are_not_found) {
    for (const char* name : {"NVDLA_CDMA.D_OP_ENABLED_0", "NVDLA_CDMX.D_OP_ENABLE_0", "NVDLA_CDMA",
                             "D_OP_ENABLE_0", "NVDLA_CDMA.", "", "NVDLA_CDMA._0"}) {
        EXPECT_EQ(find_place(nvdla_register_blocks(), name), std::nullopt) << name;
    }
    for (const std::uint32_t address : {0x3012U, 0x3ffcU, 0xe000U, 0x12000U, 0xfffffffcU}) {
        EXPECT_EQ(find_place(nvdla_register_blocks(), address), std::nullopt) << address;
    }
}

}  // namespace
}  // namespace npuscope
