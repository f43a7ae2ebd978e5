// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "models/csb/register_file.h"
#include "models/npu/register_blocks.h"

namespace npuscope {
namespace {

constexpr std::uint32_t lo_table = 1U << 16;
constexpr std::uint32_t for_writing = 1U << 17;

using Style = LutPort::Style;
using Written = LutPort::Written;

class BothStyles : public ::testing::TestWithParam<Style> {};

INSTANTIATE_TEST_SUITE_P(LutAccessTest, BothStyles, ::testing::Values(Style::Sdp, Style::Cdp),
                         [](const auto& instance) {
                             return instance.param == Style::Sdp ? "sdp" : "cdp";
                         });

TEST_P(BothStyles, writes_fill_both_tables_entry_after_entry) {
    LutPort port(GetParam());
    port.select(for_writing);
    for (std::uint32_t i = 0; i < 65; ++i) {
        EXPECT_EQ(port.write(i), Written::Stored);
    }
    port.select(for_writing | lo_table);
    for (std::uint32_t i = 0; i < 257; ++i) {
        EXPECT_EQ(port.write(0xffffU - i), Written::Stored);
    }
    EXPECT_EQ(port.tables().le[0], 0);
    EXPECT_EQ(port.tables().le[64], 64);
    EXPECT_EQ(port.tables().lo[0], -1);
    EXPECT_EQ(port.tables().lo[256], -257);
}

TEST_P(BothStyles, writing_may_start_in_the_middle) {
    LutPort port(GetParam());
    port.select(for_writing | lo_table | 100);
    port.write(7);
    port.write(8);
    EXPECT_EQ(port.tables().lo[99], 0);
    EXPECT_EQ(port.tables().lo[100], 7);
    EXPECT_EQ(port.tables().lo[101], 8);
}

TEST_P(BothStyles, reads_return_the_bit_pattern_entry_after_entry) {
    LutPort port(GetParam());
    port.select(for_writing | 62);
    port.write(0x8001);
    port.write(2);
    port.write(3);
    port.select(62);
    EXPECT_EQ(port.read(), 0x8001U);
    EXPECT_EQ(port.read(), 2U);
    EXPECT_EQ(port.read(), 3U);
}

TEST_P(BothStyles, a_table_selected_for_reading_is_not_written) {
    LutPort port(GetParam());
    port.select(5);
    EXPECT_EQ(port.write(9), Written::TypeIsRead);
    EXPECT_EQ(port.tables(), LutTables{});
}

TEST_P(BothStyles, an_entry_that_does_not_exist_is_not_written) {
    LutPort port(GetParam());
    port.select(for_writing | 65);
    EXPECT_EQ(port.write(9), Written::PastEnd);
    EXPECT_EQ(port.tables(), LutTables{});
}

TEST(LutAccessTest, sdp_runs_past_the_end_and_loses_the_values) {
    LutPort port(Style::Sdp);
    port.select(for_writing | 64);
    EXPECT_EQ(port.write(1), Written::Stored);
    EXPECT_EQ(port.write(2), Written::PastEnd);
    EXPECT_EQ(port.tables().le[64], 1);
    EXPECT_EQ(port.selection(), for_writing | 64);
    EXPECT_EQ(port.read(), 0U);
}

TEST(LutAccessTest, cdp_stays_at_the_last_entry_and_shows_where_it_stands) {
    LutPort port(Style::Cdp);
    port.select(for_writing | 63);
    EXPECT_EQ(port.write(1), Written::Stored);
    EXPECT_EQ(port.selection(), for_writing | 64);
    EXPECT_EQ(port.write(2), Written::Stored);
    EXPECT_EQ(port.selection(), for_writing | 64);
    EXPECT_EQ(port.write(3), Written::LastAgain);
    EXPECT_EQ(port.tables().le[64], 3);
}

TEST(LutAccessTest, cdp_moves_on_only_when_the_access_agrees_with_the_type) {
    LutPort port(Style::Cdp);
    port.select(for_writing | 10);
    port.read();
    EXPECT_EQ(port.selection() & 0x3ffU, 10U);
    port.select(10);
    port.write(1);
    EXPECT_EQ(port.selection() & 0x3ffU, 10U);
    port.read();
    EXPECT_EQ(port.selection() & 0x3ffU, 11U);
}

TEST(LutAccessTest, a_unit_looks_values_up_unless_its_stage_is_bypassed) {
    const RegisterBlock& sdp_block = *find_block(nvdla_register_blocks(), "NVDLA_SDP");
    RegisterValues sdp(sdp_block);
    EXPECT_FALSE(lut_is_used(sdp));
    sdp.set(find_register(sdp_block, "D_DP_EW_CFG")->offset, 0x12);  // stage on, look-up on
    EXPECT_TRUE(lut_is_used(sdp));
    sdp.set(find_register(sdp_block, "D_DP_EW_CFG")->offset, 0x52);  // stage on, look-up bypassed
    EXPECT_FALSE(lut_is_used(sdp));
    const RegisterBlock& cdp_block = *find_block(nvdla_register_blocks(), "NVDLA_CDP");
    RegisterValues cdp(cdp_block);
    EXPECT_TRUE(lut_is_used(cdp));
    cdp.set(find_register(cdp_block, "D_FUNC_BYPASS")->offset, 2);
    EXPECT_FALSE(lut_is_used(cdp));
}

}  // namespace
}  // namespace npuscope
