// SPDX-License-Identifier: Apache-2.0
#include "models/base/register_map.h"

#include <gtest/gtest.h>

#include <array>

#include "models/base/check.h"

namespace npuscope {
namespace {

constexpr std::array size_fields = {RegisterField{"WIDTH", 0, 13, RegisterAccess::ReadWrite, 2},
                                    RegisterField{"HEIGHT", 16, 13, RegisterAccess::ReadWrite, 1}};
constexpr std::array shift_fields = {RegisterField{"SHIFT", 4, 6, RegisterAccess::ReadWrite, 0},
                                     RegisterField{"BUSY", 31, 1, RegisterAccess::ReadOnly, 1}};
constexpr std::array word_fields = {RegisterField{"WORD", 0, 32, RegisterAccess::ReadWrite, 0}};
constexpr std::array rows = {RegisterRow{"D_SIZE", 0x8, size_fields},
                             RegisterRow{"D_SHIFT", 0xc, shift_fields},
                             RegisterRow{"D_WORD", 0x10, word_fields}};
constexpr RegisterBlock block{"NVDLA_TOY", 0x4000, rows};

TEST(RegisterMapTest, reset_value_and_write_mask_come_from_the_fields) {
    EXPECT_EQ(reset_value(rows[0]), 0x00010002U);
    EXPECT_EQ(write_mask(rows[0]), 0x1fff1fffU);
    EXPECT_EQ(reset_value(rows[1]), 0x80000000U);
    EXPECT_EQ(write_mask(rows[1]), 0x3f0U);
    EXPECT_EQ(write_mask(rows[2]), 0xffffffffU);
}

TEST(RegisterMapTest, registers_are_found_by_name_and_by_offset) {
    EXPECT_EQ(find_register(block, "D_SHIFT"), &rows[1]);
    EXPECT_EQ(find_register(block, std::uint32_t{0x10}), &rows[2]);
    EXPECT_EQ(find_register(block, "D_SIZ"), nullptr);
    EXPECT_EQ(find_register(block, std::uint32_t{0x9}), nullptr);
}

TEST(RegisterMapTest, values_start_at_reset_and_give_fields) {
    RegisterValues values(block);
    EXPECT_EQ(values.field("D_SIZE", "WIDTH"), 2U);
    EXPECT_EQ(values.size("D_SIZE", "HEIGHT"), 2U);
    values.set(0x8, 0x00270013);
    EXPECT_EQ(values.field("D_SIZE", "WIDTH"), 0x13U);
    EXPECT_EQ(values.field("D_SIZE", "HEIGHT"), 0x27U);
    EXPECT_EQ(values.raw("D_SIZE"), 0x00270013U);
    EXPECT_EQ(values.raw("D_SHIFT"), 0x80000000U);
}

TEST(RegisterMapTest, a_signed_field_extends_the_sign_of_its_own_width) {
    RegisterValues values(block);
    values.set(0xc, 0x3f0);
    EXPECT_EQ(values.signed_field("D_SHIFT", "SHIFT"), -1);
    values.set(0xc, 0x1f0);
    EXPECT_EQ(values.signed_field("D_SHIFT", "SHIFT"), 31);
    values.set(0x10, 0x80000000);
    EXPECT_EQ(values.signed_field("D_WORD", "WORD"), INT32_MIN);
}

TEST(RegisterMapTest, an_unknown_name_is_a_bug_of_ours) {
    RegisterValues values(block);
    EXPECT_THROW(values.raw("D_SIZ"), InternalError);
    EXPECT_THROW(values.field("D_SIZE", "DEPTH"), InternalError);
    EXPECT_THROW(values.signed_field("D_SIZE", "DEPTH"), InternalError);
    EXPECT_THROW(values.set(0x4, 0), InternalError);
}

}  // namespace
}  // namespace npuscope
