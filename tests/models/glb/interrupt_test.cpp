// SPDX-License-Identifier: Apache-2.0
#include "models/glb/interrupt.h"

#include <gtest/gtest.h>

#include "models/base/check.h"

namespace npuscope {
namespace {

struct NamedBit {
    const char* name;
    unsigned bit;
};

// source: NVDLA register specification, NVDLA_GLB S_INTR_STATUS
constexpr NamedBit named_bits[] = {
    {"SDP_0", 0},      {"SDP_1", 1},      {"CDP_0", 2},       {"CDP_1", 3},
    {"PDP_0", 4},      {"PDP_1", 5},      {"BDMA_0", 6},      {"BDMA_1", 7},
    {"RUBIK_0", 8},    {"RUBIK_1", 9},    {"CDMA_DAT_0", 16}, {"CDMA_DAT_1", 17},
    {"CDMA_WT_0", 18}, {"CDMA_WT_1", 19}, {"CACC_0", 20},     {"CACC_1", 21}};

TEST(InterruptTest, every_published_name_has_its_bit) {
    std::uint32_t all = 0;
    for (const NamedBit& row : named_bits) {
        const std::optional<Interrupt> interrupt = interrupt_from_name(row.name);
        ASSERT_TRUE(interrupt.has_value()) << row.name;
        EXPECT_EQ(interrupt_bit(*interrupt), row.bit);
        EXPECT_EQ(to_string(*interrupt), row.name);
        all |= 1U << row.bit;
    }
    EXPECT_EQ(all_interrupt_bits(), all);
    EXPECT_EQ(all, 0x3f03ffU);
}

TEST(InterruptTest, other_names_are_unknown) {
    for (const char* name : {"SDP", "SDP_2", "CDMA_0", "sdp_0", "", "sync_id_0"}) {
        EXPECT_EQ(interrupt_from_name(name), std::nullopt) << name;
    }
}

TEST(InterruptTest, a_third_group_is_a_bug_of_ours) {
    EXPECT_THROW(interrupt_bit({InterruptSource::Sdp, 2}), InternalError);
}

TEST(InterruptTest, the_line_rises_with_an_operation_and_falls_when_its_status_is_cleared) {
    InterruptController glb;
    EXPECT_FALSE(glb.line());
    glb.raise({InterruptSource::Pdp, 1});
    EXPECT_TRUE(glb.line());
    EXPECT_TRUE(glb.pending({InterruptSource::Pdp, 1}));
    EXPECT_FALSE(glb.pending({InterruptSource::Pdp, 0}));
    EXPECT_EQ(glb.read("S_INTR_STATUS"), 1U << 5);
    EXPECT_TRUE(glb.write("S_INTR_STATUS", 1U << 5));
    EXPECT_FALSE(glb.line());
    EXPECT_EQ(glb.status(), 0U);
}

TEST(InterruptTest, clearing_touches_only_the_bits_written_as_one) {
    InterruptController glb;
    glb.raise({InterruptSource::Sdp, 0});
    glb.raise({InterruptSource::Cacc, 1});
    glb.write("S_INTR_STATUS", 0);
    EXPECT_EQ(glb.status(), 0x200001U);
    glb.write("S_INTR_STATUS", 1);
    EXPECT_EQ(glb.status(), 0x200000U);
    EXPECT_TRUE(glb.line());
}

TEST(InterruptTest, a_masked_interrupt_is_pending_without_the_line) {
    InterruptController glb;
    glb.write("S_INTR_MASK", 1U << 2);
    glb.raise({InterruptSource::Cdp, 0});
    EXPECT_TRUE(glb.pending({InterruptSource::Cdp, 0}));
    EXPECT_FALSE(glb.line());
    glb.write("S_INTR_MASK", 0);
    EXPECT_TRUE(glb.line());
}

TEST(InterruptTest, the_host_can_raise_an_interrupt_by_hand_and_the_set_register_reads_zero) {
    InterruptController glb;
    EXPECT_TRUE(glb.write("S_INTR_SET", 1U << 16));
    EXPECT_TRUE(glb.pending({InterruptSource::CdmaDat, 0}));
    EXPECT_EQ(glb.read("S_INTR_SET"), 0U);
}

TEST(InterruptTest, bits_that_do_not_exist_read_zero) {
    InterruptController glb;
    glb.write("S_INTR_MASK", 0xffffffff);
    EXPECT_EQ(glb.read("S_INTR_MASK"), 0x3f03ffU);
    glb.write("S_INTR_SET", 0xffffffff);
    EXPECT_EQ(glb.read("S_INTR_STATUS"), 0x3f03ffU);
}

TEST(InterruptTest, units_that_a_preset_lacks_have_no_bits) {
    InterruptController glb(all_interrupt_bits() & ~(0xfU << 6));  // no BDMA, no RUBIK
    glb.write("S_INTR_SET", 1U << 8);
    EXPECT_FALSE(glb.line());
    EXPECT_THROW(glb.raise({InterruptSource::Rubik, 0}), InternalError);
}

TEST(InterruptTest, other_registers_are_not_its_business) {
    InterruptController glb;
    EXPECT_FALSE(glb.write("S_NVDLA_HW_VERSION", 1));
    EXPECT_EQ(glb.read("S_NVDLA_HW_VERSION"), std::nullopt);
}

}  // namespace
}  // namespace npuscope
