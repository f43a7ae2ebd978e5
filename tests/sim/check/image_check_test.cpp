// SPDX-License-Identifier: Apache-2.0
#include "sim/check/image_check.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/sim/check/damaged_program.h"
#include "tests/sim/check/sample_image.h"
#include "tests/sim/fuzz/image_inputs.h"
#include "tests/sim/fuzz/mutate.h"
#include "tests/support/growth.h"

namespace npuscope {
namespace {

using sample::finds;
using sample::kinds_of;
using sample::SampleImage;

class ImageCheckTest : public testing::Test {
 protected:
    CheckReport checked() const { return image_.checked(); }
    void change(const std::string& from, const std::string& to) {
        const std::size_t at = image_.text.find(from);
        ASSERT_NE(at, std::string::npos) << from;
        image_.text.replace(at, from.size(), to);
    }
    void expect(const std::string& kind, const std::string& surface,
                const std::string& register_name) {
        const CheckReport report = checked();
        const bool found = std::ranges::any_of(report.findings, [&](const Diagnostic& one) {
            return one.id == kind && one.surface == surface && one.register_name == register_name &&
                   !one.remedy.empty();
        });
        EXPECT_TRUE(found) << kinds_of(report);
        EXPECT_FALSE(report.clean());
    }

    SampleImage image_;
};

TEST_F(ImageCheckTest, AGoodImageHoldsNoMistake) {
    const CheckReport report = checked();
    EXPECT_TRUE(report.findings.empty()) << kinds_of(report);
    EXPECT_EQ(report.surfaces, 6U);
}

TEST_F(ImageCheckTest, AddressesAreMultiplesOfTheAtom) {
    change("address: 0x90000000, line", "address: 0x90000010, line");
    expect("misaligned", "input", "NVDLA_CDMA.D_DAIN_ADDR_LOW_0_0");
}

TEST_F(ImageCheckTest, StridesAreMultiplesOfTheAtomAndLongEnough) {
    change("line_stride: 480", "line_stride: 481");
    expect("misaligned", "input", "NVDLA_CDMA.D_LINE_STRIDE_0");
    change("line_stride: 481", "line_stride: 448");
    expect("lines_overlap", "input", "NVDLA_CDMA.D_LINE_STRIDE_0");
}

TEST_F(ImageCheckTest, SurfacesKeepApart) {
    change("address: 0xa0000000", "address: 0x90000000");
    expect("surface_overlap", "output", "NVDLA_SDP.D_DST_BASE_ADDR_LOW_0");
}

TEST_F(ImageCheckTest, SurfacesLieInMemory) {
    change("address: 0xa0000000", "address: 0x1000");
    expect("out_of_bounds", "output", "NVDLA_SDP.D_DST_BASE_ADDR_LOW_0");
}

TEST_F(ImageCheckTest, WhatIsReadMustBeLoaded) {
    image_.files.at("input.bin").resize(12000);
    expect("never_loaded", "input", "NVDLA_CDMA.D_DAIN_ADDR_LOW_0_0");
}

TEST_F(ImageCheckTest, WeightBytesFollowFromTheShape) {
    change("shape: 8x4x1x1, address: 0x80004000, bytes: 128",
           "shape: 8x40x1x1, address: 0x80004000, bytes: 128");
    expect("size_mismatch", "plain", "NVDLA_CDMA.D_WEIGHT_BYTES_0");
}

TEST_F(ImageCheckTest, GroupSizesCountTheMask) {
    image_.files.at("wgs.bin")[4] ^= 1;
    expect("wgs_mismatch", "wgs", "NVDLA_CDMA.D_WGS_ADDR_LOW_0");
}

TEST_F(ImageCheckTest, TheMaskHasNoOnesBehindItsEnd) {
    image_.files.at("wmb.bin")[320] = 1;
    expect("wmb_mismatch", "wmb", "NVDLA_CDMA.D_WMB_ADDR_LOW_0");
}

TEST_F(ImageCheckTest, CompressedBytesFollowFromTheMask) {
    change("bytes: 1280}", "bytes: 1408}");
    expect("size_mismatch", "weight", "NVDLA_CDMA.D_WEIGHT_BYTES_0");
}

TEST_F(ImageCheckTest, SmallNpusHaveNeitherCompressionNorWideTypes) {
    image_.npu = sample::small_npu();
    expect("absent_feature", "wmb", "NVDLA_CDMA.D_WEIGHT_FORMAT_0");
}

TEST_F(ImageCheckTest, DescriptionsThatMakeNoSenseAreRefused) {
    for (const char* shape : {"1x64x13", "0x64x13x15", "1x64x13x15x2", "1x70000x1x1", "ax1x1x1"}) {
        SampleImage image;
        image.text.replace(image.text.find("1x64x13x15"), 10, shape);
        EXPECT_THROW(image.checked(), ConfigError) << shape;
    }
    change("of: weight, address: 0x80002000", "of: input, address: 0x80002000");
    EXPECT_THROW(checked(), ConfigError);
}

/// Surfaces of 8 bytes, each `step` bytes after the previous one.
std::string many_surfaces(std::size_t count, std::uint64_t step) {
    std::string text = "surfaces:\n";
    for (std::size_t i = 0; i < count; ++i) {
        text +=
            fmt::format("  - {{name: s{0}, layout: feature, shape: 1x8x1x1, address: {1:#x}}}\n", i,
                        0x80000001 + i * step);
    }
    return text;
}
CheckReport check_many(std::size_t count, std::uint64_t step) {
    const ImageDescription image = parse_image(many_surfaces(count, step), "many.yaml");
    const NpuConfig npu = sample::small_npu();
    const MemoryConfig memory;
    return check_image_description(image, {npu.name, &npu, memory}, {});
}

TEST(ManySurfaces, TheirFindingsTakeTimeInProportion) {
    EXPECT_EQ(check_many(3000, 64).findings.size(), 2U * 3000);  // misaligned, never loaded
    EXPECT_LT(test::growth(3000, [](std::size_t count) { check_many(count, 64); }),
              test::between_linear_and_quadratic);
}

TEST(ManySurfaces, EachIsHeldAgainstTheNearestThatItOverlaps) {
    const auto overlaps = [](const CheckReport& report) {
        return std::ranges::count(report.findings, "surface_overlap", &Diagnostic::id);
    };
    EXPECT_EQ(overlaps(check_many(10, 0)), 45);  // each with all others
    EXPECT_EQ(overlaps(check_many(3, 4)), 2);
    EXPECT_EQ(overlaps(check_many(3, 8)), 0);
    EXPECT_EQ(overlaps(check_many(2000, 0)), 16 * 15 / 2 + 16 * 1984);
    EXPECT_LT(test::growth(1000, [](std::size_t count) { check_many(count, 0); }),
              test::between_linear_and_quadratic);
}

TEST(ManySurfaces, OneThatOverlapsTwoOthersIsHeldAgainstBoth) {
    std::string text = "surfaces:\n";
    for (const auto& [name, address] :
         {std::pair{"a", 0x80000000U}, std::pair{"b", 0x80000040U}, std::pair{"c", 0x80000020U}}) {
        text += fmt::format("  - {{name: {}, layout: feature, shape: 1x8x1x8, address: {:#x}}}\n",
                            name, address);
    }
    const NpuConfig npu = sample::small_npu();
    const MemoryConfig memory;
    Diagnostics found =
        check_image_description(parse_image(text, "a.yaml"), {npu.name, &npu, memory}, {}).findings;
    std::erase_if(found, [](const Diagnostic& one) { return one.id != "surface_overlap"; });
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].sentence, "'c' and 'a' overlap at 0x80000020");
    EXPECT_EQ(found[0].remedy, "move it away from 'a'");
    EXPECT_EQ(found[1].sentence, "'c' and 'b' overlap at 0x80000040");
}

TEST(ManySurfaces, TheirLinesAreLimitedTogether) {
    std::string text = "surfaces:\n";
    for (unsigned i = 0; i < 3; ++i) {
        text += fmt::format(
            "  - {{name: s{}, layout: feature, shape: 1x512x65536x1, address: {:#x}}}\n", i,
            0x80000000U + i * 0x10000000U);
    }
    const ImageDescription image = parse_image(text, "many.yaml");
    const NpuConfig npu = sample::small_npu();
    const MemoryConfig memory;
    EXPECT_THROW(check_image_description(image, {npu.name, &npu, memory}, {}), ConfigError);
}

TEST_F(ImageCheckTest, DamagedDescriptionsAreCheckedOrRefused) {
    fuzz::Mutator mutator(23);
    const std::string good = image_.text;
    for (int i = 0; i < 5000; ++i) {
        image_.text = mutator.damage(good);
        try {
            checked();
        } catch (const ConfigError& error) {
            ASSERT_FALSE(std::string(error.what()).empty());
        } catch (const std::exception& error) {
            FAIL() << error.what() << "\n" << image_.text;
        }
    }
}

TEST(DamagedImages, OfEveryFormatAreCheckedOrRefused) {
    fuzz::Mutator mutator(29);
    ASSERT_NO_THROW(fuzz::parse_images(fuzz::image_seed));
    for (int i = 0; i < 5000; ++i) {
        const std::string text = mutator.damage(fuzz::image_seed);
        try {
            fuzz::parse_images(text);
        } catch (const ConfigError& error) {
            ASSERT_FALSE(std::string(error.what()).empty());
        } catch (const std::exception& error) {
            FAIL() << error.what() << "\n" << text;
        }
    }
}

TEST_F(ImageCheckTest, AFindingSaysWhereItsSurfaceIsDescribed) {
    change("line_stride: 480", "line_stride: 484");
    const std::string above = image_.text.substr(0, image_.text.find("name: input"));
    const CheckReport report = checked();
    ASSERT_FALSE(report.findings.empty());
    EXPECT_EQ(report.findings.front().place.line, std::ranges::count(above, '\n') + 1);
}

}  // namespace
}  // namespace npuscope
