// SPDX-License-Identifier: Apache-2.0
#include "sim/convert/picture.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <png.h>
#include <turbojpeg.h>

#include "tests/sim/convert/sample_pictures.h"
#include "tests/sim/fuzz/mutate.h"
#include "tests/sim/message_of.h"

namespace npuscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Picture parsed(const std::string& bytes) {
    return parse_picture({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, "p");
}
std::string refusal(const std::string& bytes) {
    return sample::message_of([&] { parsed(bytes); });
}

TEST(Picture, PngsHaveTheirPixels) {
    const Picture grey = parsed(sample::png(3, 2, PNG_FORMAT_GRAY, sample::bytes(6)));
    EXPECT_EQ(grey.width, 3U);
    EXPECT_EQ(grey.height, 2U);
    EXPECT_EQ(grey.channels, 1U);
    EXPECT_EQ(grey.pixels, sample::bytes(6));
    const Picture colour = parsed(sample::png(3, 2, PNG_FORMAT_RGB, sample::bytes(18)));
    EXPECT_EQ(colour.channels, 3U);
    EXPECT_EQ(colour.pixels, sample::bytes(18));
}

TEST(Picture, SamplesOfPngsAreThoseStoredWhateverTheirGamma) {
    using namespace std::string_literals;
    std::string linear = sample::png(3, 2, PNG_FORMAT_GRAY, sample::bytes(6));
    const std::string srgb = "\0\0\0\1sRGB\0\xae\xce\x1c\xe9"s;
    const std::size_t at = linear.find(srgb);
    ASSERT_NE(at, std::string::npos);
    linear.replace(at, srgb.size(), "\0\0\0\4gAMA\0\1\x86\xa0\x31\xe8\x96\x5f"s);
    EXPECT_EQ(parsed(linear).pixels, sample::bytes(6));
}

TEST(Picture, PgmsAndPpmsHaveTheirPixelsBehindBlanksAndComments) {
    EXPECT_THAT(parsed("P5 2 1 255\nab").pixels, ElementsAre('a', 'b'));
    EXPECT_THAT(parsed("P5\n# by hand\n2\t1 # wide\n255\r#1").pixels, ElementsAre('#', '1'));
    const Picture colour = parsed("P6\n1 2\n255\nabcdef");
    EXPECT_EQ(colour.height, 2U);
    EXPECT_EQ(colour.channels, 3U);
    EXPECT_THAT(colour.pixels, ElementsAre('a', 'b', 'c', 'd', 'e', 'f'));
}

TEST(Picture, JpegsAreNearWhatWasCompressed) {
    std::vector<std::uint8_t> wanted(16 * 16 * 3);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        wanted[i] = static_cast<std::uint8_t>(40 + i / 3 % 16 * 4 + i % 3 * 50);
    }
    const Picture colour = parsed(sample::jpeg(16, 16, TJPF_RGB, wanted));
    EXPECT_EQ(colour.channels, 3U);
    ASSERT_EQ(colour.pixels.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_NEAR(colour.pixels[i], wanted[i], 6) << i;
    }
    EXPECT_EQ(parsed(sample::jpeg(16, 16, TJPF_GRAY, sample::bytes(256))).channels, 1U);
}

TEST(Picture, WhatIsNoPictureIsRefusedWithWhatIsWrong) {
    EXPECT_THAT(refusal(""), HasSubstr("p: this is not a picture of a known format"));
    EXPECT_THAT(refusal("GIF89a"), HasSubstr("PNG, JPEG, or binary PGM or PPM"));
    EXPECT_THAT(refusal("P2 1 1 255 7"), HasSubstr("not a picture of a known format"));
    for (const char* text : {"P5", "P5 2", "P5 2 1", "P5 2 1 255", "P5 x 1 255 a", "P5#"}) {
        EXPECT_THAT(refusal(text), HasSubstr("the picture's header is incomplete")) << text;
    }
    EXPECT_THAT(refusal("P5 2 1 65535\nabcd"),
                HasSubstr("the maximum pixel value (maxval) is 65535"));
    EXPECT_THAT(refusal("P5 2 2 255\nabc"), HasSubstr("3 bytes of pixels where 2 x 2 need 4"));
    EXPECT_THAT(refusal("P5 0 2 255\n"), HasSubstr("a picture of 0 x 2 pixels"));
    EXPECT_THAT(refusal("P6 99999999999999999999 99999999999999999999 255\n"),
                HasSubstr("pictures have 1 to"));
    EXPECT_THAT(refusal("P6 8193 8193 255\n"), HasSubstr("pictures have 1 to"));
    EXPECT_THAT(refusal(sample::png(2, 1, PNG_FORMAT_RGBA, sample::bytes(8))),
                HasSubstr("the picture has an alpha channel"));
    const std::string png = sample::png(9, 9, PNG_FORMAT_GRAY, sample::bytes(81));
    EXPECT_THAT(refusal(png.substr(0, 20)), HasSubstr("not a PNG picture"));
    EXPECT_THAT(refusal(png.substr(0, png.size() / 2)), HasSubstr("PNG picture"));
    const std::string jpeg = sample::jpeg(32, 32, TJPF_GRAY, sample::bytes(1024));
    EXPECT_THAT(refusal(jpeg.substr(0, 10)), HasSubstr("not a JPEG picture"));
    EXPECT_THAT(refusal(jpeg.substr(0, jpeg.size() / 2)), HasSubstr("JPEG picture is damaged"));
}

TEST(Picture, MutatedPicturesAreReadOrRefused) {
    for (const std::string& seed :
         {sample::png(5, 4, PNG_FORMAT_RGB, sample::bytes(60)),
          sample::jpeg(16, 8, TJPF_RGB, sample::bytes(384)), std::string("P6\n1 2\n255\nabcdef")}) {
        fuzz::Mutator mutator(5);
        std::size_t refused = 0;
        for (int i = 0; i < 500; ++i) {
            refused += refusal(mutator.damage(seed)).empty() ? 0U : 1U;
        }
        EXPECT_GT(refused, 100U);
    }
}

TEST(Picture, AreKnownByTheirEndings) {
    for (const char* name : {"a.png", "a.PNG", "b/c.Jpeg", "x.jpg", "x.pgm", "x.ppm"}) {
        EXPECT_TRUE(is_picture_file(name)) << name;
    }
    for (const char* name : {"a.npy", "png", ".png", "a.gif", ""}) {
        EXPECT_FALSE(is_picture_file(name)) << name;
    }
}

}  // namespace
}  // namespace npuscope
