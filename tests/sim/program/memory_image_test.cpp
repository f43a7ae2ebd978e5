// SPDX-License-Identifier: Apache-2.0
#include "sim/program/memory_image.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/sim/program/program_samples.h"
#include "tests/support/temp_folder.h"

namespace npuscope::memory_image_test {
namespace {

using sample::message_of;
using Bytes8 = std::vector<std::uint8_t>;
using Runs = std::vector<MemoryImage::Run>;

MemoryImage parse(const std::string& text) { return parse_memory_text(text, "a.dat"); }

std::string complaint(const std::string& text) {
    return message_of([&] { parse(text); });
}

TEST(MemoryImage, AdjacentPacketsAreOneRunAndGapsStartAnother) {
    const MemoryImage image = parse(
        "{\n"
        "{offset:0x0, size:4, payload:0x00 0x10 0x20 0x30} ,\n"
        "{offset:0x4, size:2, payload:0xaB 0Xcd} ,\n"
        "{offset:0x40, size:1, payload:0xFF} ,\n"
        "}\n");
    EXPECT_EQ(image.bytes, (Bytes8{0x00, 0x10, 0x20, 0x30, 0xab, 0xcd, 0xff}));
    EXPECT_EQ(image.runs, (Runs{{0, 0, 6}, {0x40, 6, 1}}));
    EXPECT_EQ(image.end(), 0x41U);
}

TEST(MemoryImage, OuterBracesBlanksAndTheLastCommaAreOptional) {
    const MemoryImage expected = parse("{offset:0x8, size:2, payload:0x01 0x02}");
    EXPECT_EQ(expected.runs, (Runs{{8, 0, 2}}));
    EXPECT_EQ(parse("{{offset:0x8,size:2,payload:0x01 0x02}}"), expected);
    EXPECT_EQ(parse("{offset : 0x8 , size : 2 , payload : 0x01\t0x02 },\r\n"), expected);
    EXPECT_EQ(parse("# made by hand\n{ // all\n{offset:8, size:0x2, payload:0x01 0x02},\n}"),
              expected);
}

TEST(MemoryImage, AListingHasBytesAndItsKeysAreWords) {
    EXPECT_EQ(complaint("Data_type=0x2\n"),
              "a.dat:2:1: the file holds no bytes (list them as 0xhh, or give raw bytes in a file "
              "that ends in .bin)");
    EXPECT_EQ(complaint("\x01\x7f=\n0x01\n").find("a.dat:1:1: expected a byte 0xhh, key=value"),
              0U);
}

TEST(MemoryImage, ListingWithHeaderIsBytesFromZero) {
    const MemoryImage image = parse(
        "# dumped\n"
        "Data_size = 0x4\n"
        "Data_type=0x2 #WEIGHT\n"
        "memory type:dram\n"
        "=====\n\n"
        " 0x00 0x10 \n0xFf 0x30\n"
        "=====\ndump done\n");
    EXPECT_EQ(image.bytes, (Bytes8{0x00, 0x10, 0xff, 0x30}));
    EXPECT_EQ(image.runs, (Runs{{0, 0, 4}}));
}

TEST(MemoryImage, PayloadThatDisagreesWithItsSizeIsRefused) {
    EXPECT_EQ(complaint("{\n{offset:0x0, size:4, payload:0x00 0x10 0x20},\n}"),
              "a.dat:2:44: the payload has 3 bytes, but its size field is 4");
    EXPECT_EQ(complaint("{offset:0x0, size:2, payload:0x00 0x10 0x20}"),
              "a.dat:1:40: expected '}' after 2 bytes of payload, found something else");
}

TEST(MemoryImage, FileCutShortIsRefusedAtEveryPlaceOfTheCut) {
    const std::string whole = "{\n{offset:0x0, size:2, payload:0x00 0x10} ,\n}";
    EXPECT_EQ(complaint(whole), "");
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const std::string message = complaint(whole.substr(0, length));
        EXPECT_NE(message, "") << length;
        EXPECT_NE(message.find("a.dat:"), std::string::npos) << message;
    }
    EXPECT_EQ(complaint("{offset:0x0, size:2, payload:0x00 0x1"),
              "a.dat:1:38: the file ends where a byte as 0x and two digits was expected "
              "(the file is cut short)");
    EXPECT_EQ(complaint("Data_size=4\n0x00 0x01\n"),
              "a.dat:3:1: the file has 2 bytes, but its Data_size is 4 (the file is cut short)");
}

TEST(MemoryImage, WhatIsNoBytePacketOrHeaderIsRefusedAtItsPlace) {
    EXPECT_EQ(complaint("0x00 0x1g"),
              "a.dat:1:6: expected a byte as 0x and two digits, found something else");
    EXPECT_EQ(complaint("0x00 0x123"),
              "a.dat:1:6: expected a byte as 0x and two digits, found something else");
    EXPECT_EQ(complaint("0x00\nhello\n"),
              "a.dat:2:1: expected a byte 0xhh, key=value, a comment or a '{' packet, found "
              "something else");
    EXPECT_EQ(complaint("{{offset:0x0, sise:2}}"),
              "a.dat:1:15: expected 'size', found something else");
    EXPECT_EQ(complaint("{offset:0, size:1, payload:0x00} {offset:1, size:1, payload:0x00}"),
              "a.dat:1:34: expected ',' between packets, found something else");
    EXPECT_EQ(complaint("{{offset:0, size:1, payload:0x00}} 0x00"),
              "a.dat:1:36: expected nothing after the closing '}', found something else");
    EXPECT_EQ(complaint("{offset:0xfffffffffffffffe, size:1, payload:0x00}"), "");
    EXPECT_EQ(complaint("{offset:0xffffffffffffffff, size:2, payload:0x00 0x00}"),
              "a.dat:1:1: the packet ends beyond the 64-bit address space");
}

TEST(MemoryImage, RawFileIsTakenByteForByte) {
    const TempFolder folder;
    const std::filesystem::path path = folder / "raw.bin";
    std::ofstream(path, std::ios::binary) << std::string("{\0#", 3);
    const MemoryImage image = read_memory_file(path, "x.bin");
    EXPECT_EQ(image.bytes, (Bytes8{'{', 0, '#'}));
    EXPECT_EQ(image.runs, (Runs{{0, 0, 3}}));
}

TEST(MemoryImage, MissingFileIsReportedWhereItWasAskedFor) {
    EXPECT_EQ(message_of([] {
                  read_memory_file("no/a.dat", "a.dat", {"t.cfg", 2, 1});
              }),
              "t.cfg:2:1: cannot read 'no/a.dat': No such file or directory"
              " (put the file there, or correct its name)");
}

}  // namespace
}  // namespace npuscope::memory_image_test
