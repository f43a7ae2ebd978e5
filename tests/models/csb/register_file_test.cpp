// SPDX-License-Identifier: Apache-2.0
#include "models/csb/register_file.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "models/base/check.h"
#include "models/npu/register_blocks.h"

namespace npuscope {
namespace {

using ::testing::HasSubstr;
using Kind = WriteEffect::Kind;

/// The registers of one unit, accessed by name.
class Host {
 public:
    explicit Host(std::string_view block)
        : registers(*find_block(nvdla_register_blocks(), block)) {}

    std::uint32_t offset(std::string_view name) const {
        return find_register(registers.block(), name)->offset;
    }
    WriteEffect write(std::string_view name, std::uint32_t value) {
        return registers.write(offset(name), value);
    }
    std::uint32_t read(std::string_view name) { return registers.read(offset(name)).value(); }

    RegisterFile registers;
};

TEST(RegisterFileTest, registers_hold_their_reset_values_first) {
    Host cdma("NVDLA_CDMA");
    EXPECT_EQ(cdma.read("S_ARBITER"), 0x3000fU);
    EXPECT_EQ(cdma.read("D_OP_ENABLE"), 0U);
    EXPECT_EQ(cdma.registers.producer(), 0U);
    EXPECT_EQ(cdma.registers.consumer(), 0U);
}

TEST(RegisterFileTest, a_write_keeps_the_bits_that_exist_and_names_the_lost_ones) {
    Host sdp("NVDLA_SDP");
    const WriteEffect effect = sdp.write("D_CVT_SHIFT", 0xabcdef05);
    EXPECT_EQ(effect.kind, Kind::Stored);
    EXPECT_EQ(effect.row->name, "D_CVT_SHIFT");
    EXPECT_EQ(effect.lost_bits, 0xabcdef05U & ~0x3fU);
    EXPECT_FALSE(effect.finding.has_value());
    EXPECT_EQ(sdp.read("D_CVT_SHIFT"), 5U);
}

TEST(RegisterFileTest, an_address_below_its_register_s_bits_is_misaligned) {
    Host bdma("NVDLA_BDMA");
    const WriteEffect effect = bdma.write("CFG_SRC_ADDR_LOW", 0x8000001f);
    EXPECT_EQ(effect.kind, Kind::Stored);
    ASSERT_TRUE(effect.finding.has_value());
    EXPECT_EQ(effect.finding->id, "misaligned");
    EXPECT_EQ(effect.finding->severity, Severity::Error);
    EXPECT_EQ(effect.finding->sentence,
              "NVDLA_BDMA.CFG_SRC_ADDR_LOW_0 = 0x8000001f: it holds multiples of 32 bytes, and the "
              "unit uses 0x80000000");
    EXPECT_EQ(effect.finding->remedy, "the nearest legal values are 0x80000000 and 0x80000020");
    EXPECT_EQ(bdma.read("CFG_SRC_ADDR_LOW"), 0x80000000U);
    EXPECT_FALSE(bdma.write("CFG_SRC_ADDR_LOW", 0x80000020).finding);
    EXPECT_FALSE(bdma.write("CFG_LINE", 0xffffffff).finding);
}

TEST(RegisterFileTest, the_producer_pointer_selects_the_group_that_the_host_sees) {
    Host pdp("NVDLA_PDP");
    pdp.write("D_DATA_CUBE_IN_WIDTH", 10);
    pdp.write("S_POINTER", 1);
    EXPECT_EQ(pdp.read("D_DATA_CUBE_IN_WIDTH"), 0U);
    pdp.write("D_DATA_CUBE_IN_WIDTH", 20);
    pdp.write("S_POINTER", 0);
    EXPECT_EQ(pdp.read("D_DATA_CUBE_IN_WIDTH"), 10U);
    EXPECT_EQ(pdp.registers.values(0).raw("D_DATA_CUBE_IN_WIDTH"), 10U);
    EXPECT_EQ(pdp.registers.values(1).raw("D_DATA_CUBE_IN_WIDTH"), 20U);
}

TEST(RegisterFileTest, shared_registers_are_the_same_for_both_groups) {
    Host sdp("NVDLA_SDP");
    sdp.write("S_LUT_LE_START", 0x1234);
    EXPECT_EQ(sdp.registers.values(0).raw("S_LUT_LE_START"), 0x1234U);
    EXPECT_EQ(sdp.registers.values(1).raw("S_LUT_LE_START"), 0x1234U);
}

TEST(RegisterFileTest, the_host_cannot_move_the_consumer_pointer) {
    Host sdp("NVDLA_SDP");
    sdp.write("S_POINTER", 0x10001);
    EXPECT_EQ(sdp.read("S_POINTER"), 1U);
    EXPECT_EQ(sdp.registers.consumer(), 0U);
}

TEST(RegisterFileTest, op_enable_starts_the_group_of_the_producer) {
    Host sdp("NVDLA_SDP");
    EXPECT_FALSE(sdp.registers.ready());
    EXPECT_EQ(sdp.write("D_OP_ENABLE", 0).kind, Kind::Stored);
    EXPECT_FALSE(sdp.registers.ready());
    const WriteEffect effect = sdp.write("D_OP_ENABLE", 1);
    EXPECT_EQ(effect.kind, Kind::OpEnabled);
    EXPECT_EQ(effect.group, 0U);
    EXPECT_TRUE(sdp.registers.ready());
    EXPECT_EQ(sdp.read("D_OP_ENABLE"), 1U);
}

TEST(RegisterFileTest, status_tells_running_from_pending) {
    Host sdp("NVDLA_SDP");
    EXPECT_EQ(sdp.read("S_STATUS"), 0U);
    sdp.write("D_OP_ENABLE", 1);
    EXPECT_EQ(sdp.read("S_STATUS"), 0x1U);  // group 0 running
    sdp.write("S_POINTER", 1);
    sdp.write("D_OP_ENABLE", 1);
    EXPECT_EQ(sdp.read("S_STATUS"), 0x20001U);  // group 1 pending behind it
    sdp.registers.operation_done();
    EXPECT_EQ(sdp.read("S_STATUS"), 0x10000U);  // group 1 running
    sdp.registers.operation_done();
    EXPECT_EQ(sdp.read("S_STATUS"), 0U);
}

TEST(RegisterFileTest, a_group_enabled_out_of_turn_waits_for_the_other_one) {
    Host sdp("NVDLA_SDP");
    sdp.write("S_POINTER", 1);
    EXPECT_EQ(sdp.write("D_OP_ENABLE", 1).group, 1U);
    EXPECT_EQ(sdp.registers.status(1), GroupStatus::Pending);
    EXPECT_FALSE(sdp.registers.ready());
}

TEST(RegisterFileTest, a_finished_operation_frees_its_group_and_gives_the_turn_away) {
    Host sdp("NVDLA_SDP");
    sdp.write("D_OP_ENABLE", 1);
    sdp.registers.operation_done();
    EXPECT_EQ(sdp.registers.consumer(), 1U);
    EXPECT_EQ(sdp.read("S_POINTER"), 0x10000U);
    EXPECT_EQ(sdp.read("D_OP_ENABLE"), 0U);
    EXPECT_EQ(sdp.write("D_CVT_SHIFT", 3).kind, Kind::Stored);
}

TEST(RegisterFileTest, an_enabled_group_refuses_writes_and_keeps_its_values) {
    Host sdp("NVDLA_SDP");
    sdp.write("D_CVT_SHIFT", 3);
    sdp.write("D_OP_ENABLE", 1);
    for (const std::string_view name : {"D_CVT_SHIFT", "D_OP_ENABLE"}) {
        const WriteEffect effect = sdp.write(name, 0);
        EXPECT_EQ(effect.kind, Kind::Refused);
        ASSERT_TRUE(effect.finding.has_value());
        EXPECT_EQ(effect.finding->severity, Severity::Error);
        EXPECT_EQ(effect.finding->id, "register_in_use");
        EXPECT_EQ(effect.finding->unit, "sdp");
        EXPECT_THAT(effect.finding->sentence, HasSubstr("NVDLA_SDP." + std::string(name) + "_0"));
    }
    EXPECT_EQ(sdp.read("D_CVT_SHIFT"), 3U);
    EXPECT_TRUE(sdp.registers.op_enabled(0));
}

TEST(RegisterFileTest, the_other_group_and_shared_registers_accept_writes_meanwhile) {
    Host sdp("NVDLA_SDP");
    sdp.write("D_OP_ENABLE", 1);
    EXPECT_EQ(sdp.write("S_POINTER", 1).kind, Kind::Stored);
    EXPECT_EQ(sdp.write("D_CVT_SHIFT", 7).kind, Kind::Stored);
    EXPECT_EQ(sdp.registers.values(1).raw("D_CVT_SHIFT"), 7U);
    EXPECT_EQ(sdp.registers.values(0).raw("D_CVT_SHIFT"), 0U);
}

TEST(RegisterFileTest, a_write_to_a_status_register_is_ignored_with_a_note) {
    Host cdp("NVDLA_CDP");
    cdp.write("D_OP_ENABLE", 1);
    for (const std::string_view name : {"S_STATUS", "D_OUT_SATURATION", "D_PERF_WRITE_STALL"}) {
        const std::uint32_t before = cdp.read(name);
        const WriteEffect effect = cdp.write(name, 0xff);
        EXPECT_EQ(effect.kind, Kind::Ignored) << name;
        ASSERT_TRUE(effect.finding.has_value()) << name;
        EXPECT_EQ(effect.finding->severity, Severity::Note);
        EXPECT_EQ(effect.finding->id, "register_read_only");
        EXPECT_EQ(cdp.read(name), before) << name;
    }
}

TEST(RegisterFileTest, an_offset_without_a_register_refuses_writes_and_reads_nothing) {
    Host cmac("NVDLA_CMAC_A");
    for (const std::uint32_t offset : {0x10U, 0x9U, 0xffcU}) {
        const WriteEffect effect = cmac.registers.write(offset, 1);
        EXPECT_EQ(effect.kind, Kind::Refused);
        EXPECT_EQ(effect.row, nullptr);
        ASSERT_TRUE(effect.finding.has_value());
        EXPECT_EQ(effect.finding->id, "register_unknown");
        EXPECT_EQ(effect.finding->unit, "cmac_a");
        EXPECT_EQ(cmac.registers.read(offset), std::nullopt);
    }
}

TEST(RegisterFileTest, results_belong_to_the_group_that_ran_until_it_is_enabled_again) {
    Host cacc("NVDLA_CACC");
    cacc.write("D_OP_ENABLE", 1);
    cacc.registers.set_status("D_OUT_SATURATION", 42);
    cacc.registers.operation_done();
    EXPECT_EQ(cacc.read("D_OUT_SATURATION"), 42U);
    cacc.write("S_POINTER", 1);
    EXPECT_EQ(cacc.read("D_OUT_SATURATION"), 0U);
    cacc.write("D_OP_ENABLE", 1);
    cacc.registers.operation_done();
    cacc.write("S_POINTER", 0);
    EXPECT_EQ(cacc.read("D_OUT_SATURATION"), 42U);
    cacc.write("D_OP_ENABLE", 1);
    EXPECT_EQ(cacc.read("D_OUT_SATURATION"), 0U);
}

TEST(RegisterFileTest, a_shared_status_register_is_set_for_both_groups) {
    Host cdma("NVDLA_CDMA");
    cdma.registers.set_status("S_CBUF_FLUSH_STATUS", 1);
    EXPECT_EQ(cdma.read("S_CBUF_FLUSH_STATUS"), 1U);
    cdma.write("S_POINTER", 1);
    EXPECT_EQ(cdma.read("S_CBUF_FLUSH_STATUS"), 1U);
}

TEST(RegisterFileTest, the_hardware_sets_only_registers_that_are_its_own) {
    Host cdma("NVDLA_CDMA");
    EXPECT_THROW(cdma.registers.set_status("D_LINE_STRIDE", 1), InternalError);
    EXPECT_THROW(cdma.registers.set_status("S_STATUS", 1), InternalError);
    EXPECT_THROW(cdma.registers.set_status("D_NONE", 1), InternalError);
    EXPECT_THROW(cdma.registers.operation_done(), InternalError);
}

TEST(RegisterFileTest, blocks_without_groups_store) {
    Host bdma("NVDLA_BDMA");
    EXPECT_FALSE(bdma.registers.has_groups());
    EXPECT_EQ(bdma.write("CFG_LINE_REPEAT", 9).kind, Kind::Stored);
    EXPECT_EQ(bdma.read("CFG_LINE_REPEAT"), 9U);
    EXPECT_EQ(bdma.write("STATUS", 9).kind, Kind::Ignored);
    bdma.registers.set_status("STATUS", 0x115);
    EXPECT_EQ(bdma.read("STATUS"), 0x115U);
    EXPECT_THROW(bdma.registers.operation_done(), InternalError);
    Host mcif("NVDLA_MCIF");
    EXPECT_EQ(mcif.write("CFG_OUTSTANDING_CNT", 0x1020).kind, Kind::Stored);
    EXPECT_EQ(mcif.read("CFG_OUTSTANDING_CNT"), 0x1020U);
    Host glb("NVDLA_GLB");
    EXPECT_EQ(glb.read("S_NVDLA_HW_VERSION"), 0x303031U);
    EXPECT_EQ(glb.write("S_NVDLA_HW_VERSION", 0).kind, Kind::Ignored);
    EXPECT_EQ(glb.write("S_INTR_MASK", 3).kind, Kind::Stored);
}

TEST(RegisterFileTest, the_look_up_tables_are_reached_through_their_window) {
    Host cdp("NVDLA_CDP");
    ASSERT_NE(cdp.registers.lut_tables(), nullptr);
    EXPECT_EQ(Host("NVDLA_PDP").registers.lut_tables(), nullptr);
    cdp.write("S_LUT_ACCESS_CFG", 0x30000);
    EXPECT_EQ(cdp.write("S_LUT_ACCESS_DATA", 0xfffe).kind, Kind::Stored);
    cdp.write("S_LUT_ACCESS_DATA", 5);
    EXPECT_EQ(cdp.registers.lut_tables()->lo[0], -2);
    EXPECT_EQ(cdp.registers.lut_tables()->lo[1], 5);
    EXPECT_EQ(cdp.read("S_LUT_ACCESS_CFG"), 0x30002U);
    cdp.write("S_LUT_ACCESS_CFG", 0x10000);
    EXPECT_EQ(cdp.read("S_LUT_ACCESS_DATA"), 0xfffeU);
    EXPECT_EQ(cdp.read("S_LUT_ACCESS_DATA"), 5U);
}

TEST(RegisterFileTest, sdp_reads_back_the_table_selection_as_written) {
    Host sdp("NVDLA_SDP");
    sdp.write("S_LUT_ACCESS_CFG", 0x20005);
    sdp.write("S_LUT_ACCESS_DATA", 1);
    EXPECT_EQ(sdp.read("S_LUT_ACCESS_CFG"), 0x20005U);
    EXPECT_EQ(sdp.registers.lut_tables()->le[5], 1);
}

TEST(RegisterFileTest, losing_a_table_entry_is_a_warning) {
    Host sdp("NVDLA_SDP");
    sdp.write("S_LUT_ACCESS_CFG", 0x0);
    EXPECT_EQ(sdp.write("S_LUT_ACCESS_DATA", 1).finding.value().id, "lut_not_writable");
    sdp.write("S_LUT_ACCESS_CFG", 0x20041);
    EXPECT_EQ(sdp.write("S_LUT_ACCESS_DATA", 1).finding.value().id, "lut_past_end");
    Host cdp("NVDLA_CDP");
    cdp.write("S_LUT_ACCESS_CFG", 0x20040);
    EXPECT_FALSE(cdp.write("S_LUT_ACCESS_DATA", 1).finding.has_value());
    EXPECT_EQ(cdp.write("S_LUT_ACCESS_DATA", 2).finding.value().id, "lut_past_end");
}

TEST(RegisterFileTest, loading_a_table_that_a_running_operation_looks_up_is_a_warning) {
    Host cdp("NVDLA_CDP");
    cdp.write("S_LUT_ACCESS_CFG", 0x20000);
    EXPECT_FALSE(cdp.write("S_LUT_ACCESS_DATA", 1).finding.has_value());
    cdp.write("D_OP_ENABLE", 1);
    const WriteEffect effect = cdp.write("S_LUT_ACCESS_DATA", 2);
    EXPECT_EQ(effect.kind, Kind::Stored);
    ASSERT_TRUE(effect.finding.has_value());
    EXPECT_EQ(effect.finding->severity, Severity::Warning);
    EXPECT_EQ(effect.finding->id, "lut_in_use");
    EXPECT_EQ(cdp.write("S_LUT_LE_START_LOW", 2).finding.value().id, "lut_in_use");
    EXPECT_FALSE(cdp.write("S_POINTER", 1).finding.has_value());
}

}  // namespace
}  // namespace npuscope
