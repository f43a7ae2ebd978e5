// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/program/memory_image.h"
#include "tests/sim/fuzz/mutate.h"
#include "tests/sim/message_of.h"

namespace npuscope {
namespace {

const std::string hex =
    ":0200000490006A\n"
    ":0400100001020304E2\n"
    ":04001400FFFEFDFCF2\r\n"
    "\n"
    ":00000001FF\n";
const std::string words = "@80 00 1f // first\n2F\n@0000_0100\nff";

TEST(HexImage, IntelRecordsAreJoinedUnderTheirUpperAddress) {
    const MemoryImage image = parse_intel_hex(hex, "a.hex");
    ASSERT_EQ(image.runs.size(), 1U);
    EXPECT_EQ(image.runs.front(), (MemoryImage::Run{0x90000010, 0, 8}));
    EXPECT_EQ(image.bytes, (std::vector<std::uint8_t>{1, 2, 3, 4, 255, 254, 253, 252}));
}

TEST(HexImage, ReadmemhHoldsAByteAWord) {
    const MemoryImage image = parse_readmemh(words, "a.mem");
    ASSERT_EQ(image.runs.size(), 2U);
    EXPECT_EQ(image.runs[0], (MemoryImage::Run{0x80, 0, 3}));
    EXPECT_EQ(image.runs[1], (MemoryImage::Run{0x100, 3, 1}));
    EXPECT_EQ(image.bytes, (std::vector<std::uint8_t>{0, 0x1f, 0x2f, 0xff}));
}

TEST(HexImage, CommentsOfReadmemhMayBeBlocks) {
    const MemoryImage image =
        parse_readmemh("/* of\n// a tool */ @80 0/**/1 // 2 /*\n/*/3*/4/* * / 5\n6 */7", "a.mem");
    EXPECT_EQ(image.bytes, (std::vector<std::uint8_t>{0, 1, 4, 7}));
    EXPECT_EQ(image.runs.front().offset, 0x80U);
    EXPECT_EQ(sample::message_of([] { parse_readmemh("1 /* 2\n3", "a.mem"); }),
              "a.mem:2:1: the file ends within a comment (close the comment with */)");
    EXPECT_THROW(parse_readmemh("1 / 2\n", "a.mem"), ConfigError);
    EXPECT_EQ(sample::message_of([] { parse_readmemh("/* */ x", "a.mem"); }).substr(0, 10),
              "a.mem:1:7:");
}

TEST(HexImage, WordsOfSeveralBytesHaveEitherOrder) {
    const std::string wide = "@2 0102_0304 5\n";
    const MemoryImage little = parse_readmemh(wide, "a.mem", {.bytes = 4, .big_endian = false});
    EXPECT_EQ(little.runs.front(), (MemoryImage::Run{8, 0, 8}));
    EXPECT_EQ(little.bytes, (std::vector<std::uint8_t>{4, 3, 2, 1, 5, 0, 0, 0}));
    const MemoryImage big = parse_readmemh(wide, "a.mem", {.bytes = 4, .big_endian = true});
    EXPECT_EQ(big.bytes, (std::vector<std::uint8_t>{1, 2, 3, 4, 0, 0, 0, 5}));
    EXPECT_THROW(parse_readmemh("123456789\n", "a.mem", {.bytes = 4}), ConfigError);
    EXPECT_THROW(parse_readmemh("@ffffffffffffffff\n", "a.mem", {.bytes = 4}), ConfigError);
}

TEST(HexImage, WhatIsNoRecordIsRefusedWithItsPlace) {
    EXPECT_THROW(parse_intel_hex(":0400100001020304E3\n:00000001FF\n", "a.hex"), ConfigError);
    EXPECT_THROW(parse_intel_hex(":0400100001020304E2\n", "a.hex"), ConfigError);
    EXPECT_THROW(parse_intel_hex("00\n", "a.hex"), ConfigError);
    EXPECT_THROW(parse_intel_hex(":00000007F9\n", "a.hex"), ConfigError);
    EXPECT_THROW(parse_readmemh("123\n", "a.mem"), ConfigError);
    EXPECT_THROW(parse_readmemh("1g\n", "a.mem"), ConfigError);
}

TEST(HexImage, DamagedFilesAreReadOrRefused) {
    fuzz::Mutator mutator(3);
    for (int i = 0; i < 8000; ++i) {
        try {
            i % 2 == 0 ? parse_intel_hex(mutator.damage(hex), "a")
                       : parse_readmemh(mutator.damage(words), "a");
        } catch (const ConfigError& error) {
            ASSERT_FALSE(std::string(error.what()).empty());
        }
    }
}

}  // namespace
}  // namespace npuscope
