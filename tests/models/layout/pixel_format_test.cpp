// SPDX-License-Identifier: Apache-2.0
#include "models/layout/pixel_format.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>

namespace npuscope {
namespace {

/// One pixel whose bytes are 0x10, 0x21, 0x32 ... through the format called `name`.
std::vector<std::uint16_t> unpack_one(const std::string& name) {
    PixelSurface surface;
    surface.format = find_pixel_format(name);
    surface.height = 1;
    surface.width = 1;
    std::vector<std::uint8_t> bytes{0x10, 0x21, 0x32, 0x43, 0x54, 0x65, 0x76, 0x87};
    Tensor<std::uint16_t> codes(surface.shape());
    unpack_pixels(surface, {0, 0}, bytes, codes);
    if (surface.format->planes == 2) {
        unpack_pixels(surface, {1, 0}, std::span(bytes).subspan(4), codes);
    }
    return codes.values;
}

using Codes = std::vector<std::uint16_t>;

TEST(PixelFormat, ThereAreThirtySixFormatsWithTheirOwnNamesAndCodes) {
    std::set<std::string_view> names;
    std::uint32_t code = 0;
    for (const PixelFormat& format : pixel_formats()) {
        EXPECT_EQ(format.code, code++);
        EXPECT_TRUE(names.insert(format.name).second) << format.name;
        EXPECT_EQ(find_pixel_format(format.code), &format);
    }
    EXPECT_EQ(code, 36U);
    EXPECT_EQ(find_pixel_format(36U), nullptr);
}

TEST(PixelFormat, EveryChannelOfEveryFormatIsFilledOnce) {
    for (const PixelFormat& format : pixel_formats()) {
        std::set<std::uint32_t> channels;
        for (std::uint32_t i = 0; i < format.channels; ++i) {
            channels.insert(format.order[i]);
        }
        EXPECT_EQ(channels.size(), format.channels) << format.name;
        EXPECT_EQ(*channels.rbegin(), format.channels - 1U) << format.name;
    }
}

TEST(PixelFormat, NamesRunFromTheMostSignificantByte) {
    EXPECT_EQ(unpack_one("T_R8"), (Codes{0x10}));
    EXPECT_EQ(unpack_one("T_A8B8G8R8"), (Codes{0x10, 0x21, 0x32, 0x43}));
    EXPECT_EQ(unpack_one("T_A8R8G8B8"), (Codes{0x32, 0x21, 0x10, 0x43}));
    EXPECT_EQ(unpack_one("T_B8G8R8A8"), (Codes{0x21, 0x32, 0x43, 0x10}));
    EXPECT_EQ(unpack_one("T_R8G8B8A8"), (Codes{0x43, 0x32, 0x21, 0x10}));
    EXPECT_EQ(unpack_one("T_R8G8B8X8"), unpack_one("T_R8G8B8A8"));
    EXPECT_EQ(unpack_one("T_V8U8Y8A8"), unpack_one("T_B8G8R8A8"));
    EXPECT_EQ(unpack_one("T_A8Y8U8V8"), unpack_one("T_A8R8G8B8"));
}

TEST(PixelFormat, SixteenBitComponentsAreLittleEndian) {
    EXPECT_EQ(unpack_one("T_R12"), (Codes{0x2110}));
    EXPECT_EQ(unpack_one("T_A16B16G16R16"), (Codes{0x2110, 0x4332, 0x6554, 0x8776}));
    EXPECT_EQ(unpack_one("T_V16U16Y16A16"), (Codes{0x4332, 0x6554, 0x8776, 0x2110}));
}

TEST(PixelFormat, TenBitFieldsAreMovedUpToSixteenBits) {
    // word 0x43322110: bits 9:0 = 0x110, 19:10 = 0x088, 29:20 = 0x033, 31:30 = 1
    EXPECT_EQ(unpack_one("T_A2B10G10R10"), (Codes{0x110 << 6, 0x088 << 6, 0x033 << 6, 1 << 14}));
    // bits 1:0 = 0, 11:2 = 0x044, 21:12 = 0x322, 31:22 = 0x10c
    EXPECT_EQ(unpack_one("T_R10G10B10A2"), (Codes{0x10C << 6, 0x322 << 6, 0x044 << 6, 0}));
}

TEST(PixelFormat, ChromaNamesRunFromTheMostSignificantByteToo) {
    EXPECT_EQ(unpack_one("T_Y8___U8V8_N444"), (Codes{0x10, 0x65, 0x54}));
    EXPECT_EQ(unpack_one("T_Y8___V8U8_N444"), (Codes{0x10, 0x54, 0x65}));
    EXPECT_EQ(unpack_one("T_Y12___U12V12_N444"), (Codes{0x2110, 0x8776, 0x6554}));
}

TEST(PixelSurface, LinesStartBehindTheOffsetAndChromaSkipsLessThanAnAtom) {
    PixelSurface surface;
    surface.format = find_pixel_format("T_Y8___U8V8_N444");
    surface.base = {Address(0x1000), Address(0x2000)};
    surface.line_stride = {Bytes(64), Bytes(128)};
    surface.x_offset = 5;
    surface.height = 4;
    surface.width = 10;
    EXPECT_EQ(surface.line({0, 2}), (ByteRun{Address(0x1000 + 2 * 64 + 5), Bytes(10)}));
    EXPECT_EQ(surface.line({1, 1}), (ByteRun{Address(0x2000 + 128 + 2), Bytes(20)}));
    EXPECT_EQ(surface.runs().size(), 8U);
}

}  // namespace
}  // namespace npuscope
