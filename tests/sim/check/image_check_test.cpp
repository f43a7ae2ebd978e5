// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "sim/check/image_description.h"
#include "tests/sim/check/damaged_program.h"
#include "tests/sim/check/sample_image.h"
#include "tests/sim/fuzz/mutate.h"

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

}  // namespace
}  // namespace npuscope
