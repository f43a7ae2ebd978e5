// SPDX-License-Identifier: Apache-2.0
#include "models/csb/register_blocks.h"

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
            EXPECT_TRUE(names.insert(row.name).second) << register_name(block, row);
            EXPECT_TRUE(offsets.insert(row.offset).second) << register_name(block, row);
            EXPECT_EQ(row.offset % 4, 0U) << register_name(block, row);
            EXPECT_LT(row.offset, register_block_size.value) << register_name(block, row);
        }
    }
}

TEST_P(BothAddressMaps, fields_fit_their_register_and_do_not_overlap) {
    for (const RegisterBlock& block : nvdla_register_blocks(GetParam())) {
        for (const RegisterRow& row : block.rows) {
            std::uint32_t taken = 0;
            std::set<std::string_view> names;
            EXPECT_FALSE(row.fields.empty()) << register_name(block, row);
            for (const RegisterField& field : row.fields) {
                const std::string where = register_name(block, row) + " " + std::string(field.name);
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
                << register_name(block, row);
        }
    }
}

TEST_P(BothAddressMaps, a_register_without_its_suffix_is_never_another_register) {
    for (const RegisterBlock& block : nvdla_register_blocks(GetParam())) {
        for (const RegisterRow& row : block.rows) {
            EXPECT_EQ(find_register(block, std::string(row.name) + "_0"), nullptr)
                << register_name(block, row);
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
    ASSERT_NE(find_block("NVDLA_CDMA"), nullptr);
    EXPECT_EQ(find_block("NVDLA_CDMA")->base, 0x3000U);
    EXPECT_EQ(find_block("NVDLA_CDMA", AddressMap::NvFull)->base, 0x5000U);
    EXPECT_EQ(find_block("CDMA"), nullptr);
    EXPECT_EQ(find_block("NVDLA_CFGROM", AddressMap::NvFull), nullptr);
}

TEST(RegisterBlocksTest, the_sdp_stages_are_bypassed_after_reset_in_nv_small_only) {
    for (const char* name : {"D_DP_BS_CFG", "D_DP_BN_CFG", "D_DP_EW_CFG"}) {
        const RegisterValues small(*find_block("NVDLA_SDP"));
        const RegisterValues full(*find_block("NVDLA_SDP", AddressMap::NvFull));
        EXPECT_EQ(small.raw(name) & 1U, 1U) << name;
        EXPECT_EQ(full.raw(name), 0U) << name;
    }
    const RegisterValues full(*find_block("NVDLA_SDP_RDMA", AddressMap::NvFull));
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

}  // namespace
}  // namespace npuscope
