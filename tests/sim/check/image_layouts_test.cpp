// SPDX-License-Identifier: Apache-2.0
// Memory images of every layout of the catalogue: laid out by its rows they are clean, and what is
// wrong with one is found.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "models/layout/relayout.h"
#include "sim/check/image_check.h"
#include "tests/sim/check/sample_image.h"
#include "tests/support/refusal.h"

namespace npuscope {
namespace {

/// The ids of all findings.
std::string ids_of(const CheckReport& report) {
    std::string ids;
    for (const Diagnostic& finding : report.findings) {
        ids += finding.id + ' ';
    }
    return ids;
}

/// Everything that an NPU may have, at the sizes of nv_full.
NpuConfig full_npu() {
    NpuConfig npu = sample::large_npu();
    npu.name = "full";
    npu.datapath.int16 = npu.datapath.fp16 = true;
    npu.cdma.winograd = true;
    npu.cdma.max_batch = 32;
    for (const LayoutRow& row : kneron_layouts()) {
        npu.surfaces.inputs.emplace_back(row.name);
    }
    return npu;
}

/// A description and its files.
struct Image {
    std::string text;
    std::map<std::string, std::vector<std::uint8_t>> files;
    NpuConfig npu = full_npu();
    MemoryConfig memory{};

    ImageTarget target() const { return {npu.name, &npu, memory}; }
    LoadImageFile load() const {
        return [this](const ImageFile& file) { return raw_image(files.at(file.file)); };
    }
    CheckReport checked() const {
        return check_image_description(parse_image(text, "image.yaml"), target(), load());
    }
    ImageContents contents() const { return {parse_image(text, "image.yaml"), target(), load()}; }
    void add(const std::string& surface) { text += "  - {" + surface + "}\n"; }
    void replace(const std::string& old, const std::string& with) {
        text.replace(text.find(old), old.size(), with);
    }
};

Image with(const std::string& surface, std::vector<std::uint8_t> bytes) {
    Image image;
    image.text = "surfaces:\n";
    image.add(surface + ", address: 0x80000000, file: x.bin");
    image.files["x.bin"] = std::move(bytes);
    return image;
}

std::uint32_t element_of(const LayoutRow& row) { return row.element == 0 ? 1 : row.element; }

/// A shape that the row accepts.
std::string shape_for(const LayoutRow& row) {
    if (row.name == "weight_winograd") {
        return "5x64x4x4";
    }
    if (row.family == "nvdla weights" || row.axes == "KCRS") {
        return "5x3x3x2";
    }
    if (const PixelFormat* pixels = find_pixel_format(row.name)) {
        return fmt::format("1x{}x3x5", pixels->channels);
    }
    if (row.name == "batch_norm") {
        return "2x5x1x1";
    }
    if (row.family == "kneron") {
        return "1x3x3x4";
    }
    const bool vector = row.name == "feature_1x1" || row.name == "bias" || row.name == "prelu";
    return vector ? "1x5x1x1" : "1x5x3x4";
}

TEST(ImageLayouts, OfEveryRowOfTheCatalogueAreCheckedAndReadBack) {
    for (const LayoutRow* row : layout_catalog()) {
        SCOPED_TRACE(row->name);
        const std::string type = element_of(*row) == 1   ? "int8"
                                 : element_of(*row) == 2 ? "int16"
                                                         : "float32";
        const bool pixels = row->family == "nvdla pixels";
        Image image = with(fmt::format("name: x, layout: {}, shape: {}{}", row->name,
                                       shape_for(*row), pixels ? "" : ", type: " + type),
                           std::vector<std::uint8_t>(65536, 3));
        const CheckReport report = image.checked();
        EXPECT_TRUE(report.findings.empty()) << ids_of(report);
        const ImageContents contents = image.contents();
        const PlacedSurface& surface = *contents.find("x");
        const std::vector<std::uint8_t> elements = contents.elements(surface);
        EXPECT_EQ(elements.size(), surface.shape.elements() * surface.type->bytes);
        const bool coded =
            row->family == "kneron" || (pixels && find_pixel_format(row->name)->packed_word);
        EXPECT_TRUE(coded ||
                    std::ranges::all_of(elements, [](std::uint8_t byte) { return byte <= 3; }));
        image.files["x.bin"].resize(contents.spec(surface).layout.used - 1);
        EXPECT_EQ(image.checked().findings.size(), 1U);
    }
}

TEST(ImageLayouts, OperandsOfWideDataHaveHalfAsManyLanes) {
    const std::string bias = "name: x, layout: per_channel, type: int16, shape: 1x16x1x1";
    const std::vector<std::uint8_t> bytes(32, 1);
    EXPECT_TRUE(with(bias, bytes).checked().findings.empty());
    EXPECT_EQ(ids_of(with(bias + ", data: int8", bytes).checked()), "never_loaded ");
    const std::string residual =
        "name: x, layout: per_element, type: fp16, shape: 1x16x2x2, components: 2";
    EXPECT_TRUE(with(residual, std::vector<std::uint8_t>(256, 1)).checked().findings.empty());
}

TEST(ImageLayouts, BatchesLieABatchStrideApart) {
    const std::string batches = "name: x, layout: feature, shape: 2x32x2x2, batch_stride: ";
    const std::vector<std::uint8_t> bytes(640, 1);
    EXPECT_TRUE(with(batches + "512", bytes).checked().findings.empty());
    const CheckReport report = with(batches + "500", bytes).checked();
    EXPECT_EQ(ids_of(report), "misaligned ");
    EXPECT_EQ(report.findings.front().register_name, "NVDLA_CDMA.D_BATCH_STRIDE_0");
    EXPECT_EQ(ids_of(with(batches + "64", bytes).checked()), "lines_overlap ");
}

TEST(ImageLayouts, KeysWithoutEffectAreRefused) {
    const auto refusal = [](const std::string& surface) {
        return refusal_of([&] { with(surface, {1}).checked(); });
    };
    EXPECT_EQ(refusal("name: x, layout: nhwc, shape: 1x1x2x3, line_stride: 64"),
              "surface 'x': `line_stride` has no effect on layout nhwc");
    EXPECT_EQ(refusal("name: x, layout: weight_dc, shape: 8x8x1x1, x_offset: 1"),
              "surface 'x': `x_offset` has no effect on layout weight_dc");
    EXPECT_EQ(refusal("name: x, layout: raw, bytes: 0"), "surface 'x': it has no size");
    for (const auto& [key, layout, others] :
         {std::tuple{"line_stride: 64", "feature_1x1", "shape: 1x1x1x1"},
          std::tuple{"address_1: 0x80001000", "T_A8B8G8R8", "shape: 1x4x2x3"},
          std::tuple{"line_stride_1: 64", "T_A8B8G8R8", "shape: 1x4x2x3"},
          std::tuple{"values: 1..2", "raw", "bytes: 8"},
          std::tuple{"type: int8", "raw", "bytes: 8"},
          std::tuple{"shape: 1x1x1x1", "raw", "bytes: 8"},
          std::tuple{"values: 0..1", "wmb", "of: y"}}) {
        const std::string name = std::string(key).substr(0, std::string(key).find(':'));
        EXPECT_EQ(refusal(fmt::format("name: x, layout: {}, {}, {}", layout, others, key)),
                  fmt::format("surface 'x': `{}` has no effect on layout {}", name, layout));
    }
}

TEST(ImageLayouts, NumbersThatAreGivenTwiceAreRefused) {
    const auto refusal = [](const std::string& surface) {
        return refusal_of([&] { with(surface, {1}).checked(); });
    };
    EXPECT_EQ(refusal("name: x, layout: 'feature:line_stride=64', shape: 1x1x2x2, line_stride: 64"),
              "surface 'x': its line_stride is given twice");
    EXPECT_EQ(refusal("name: x, layout: 'T_R8:x_offset=1', shape: 1x1x2x3, x_offset: 3"),
              "surface 'x': its x_offset is given twice");
    EXPECT_EQ(refusal("name: x, layout: 'T_Y8___U8V8_N444:plane_1=4096', shape: 1x3x2x3, "
                      "address_1: 0x80002000"),
              "surface 'x': its plane_1 is given twice");
    Image offset = with("name: x, layout: 'T_R8:x_offset=0', shape: 1x1x1x2, x_offset: 3",
                        std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7});
    EXPECT_EQ(offset.contents().elements(*offset.contents().find("x")),
              (std::vector<std::uint8_t>{3, 4}));
}

TEST(ImageLayouts, NoSizeIsNoLegalSize) {
    const CheckReport report = with("name: x, layout: weight_dc, shape: 8x8x1x1, bytes: 32",
                                    std::vector<std::uint8_t>(128))
                                   .checked();
    const auto found = std::ranges::find(report.findings, "misaligned", &Diagnostic::id);
    ASSERT_NE(found, report.findings.end());
    EXPECT_EQ(found->remedy, "the nearest legal value is 0x80");
}

TEST(ImageLayouts, PixelsMayBeginAfterAnOffset) {
    const std::string pixels = "name: x, layout: T_Y8___U8V8_N444, shape: 1x3x2x20, x_offset: 3";
    Image image = with(pixels, std::vector<std::uint8_t>(192, 9));
    EXPECT_TRUE(image.checked().findings.empty()) << ids_of(image.checked());
    image.files["x.bin"][3] = 1;       // the first pixel of the first plane
    image.files["x.bin"][64 + 6] = 2;  // the first V of the second, two bytes a pixel
    image.files["x.bin"][64 + 7] = 4;
    const std::vector<std::uint8_t> elements =
        image.contents().elements(*image.contents().find("x"));
    EXPECT_EQ(elements[0], 1);
    EXPECT_EQ(elements[40], 4);
    EXPECT_EQ(elements[80], 2);
    const CheckReport report =
        with(pixels + ", address_1: 0x80000044, line_stride_1: 70", std::vector<std::uint8_t>(256))
            .checked();
    EXPECT_EQ(ids_of(report), "misaligned misaligned ");
}

TEST(ImageLayouts, KernelsAreInTheOrderOfTheirMode) {
    Image small =
        with("name: x, layout: weight_winograd, shape: 8x32x4x4", std::vector<std::uint8_t>(4096));
    small.npu.cdma.winograd = false;
    EXPECT_EQ(ids_of(small.checked()), "absent_feature ");
    const std::string post = "name: x, layout: 'weight_image_post:rows=4', shape: 8x3x8x";
    EXPECT_TRUE(with(post + "5", std::vector<std::uint8_t>(4096)).checked().findings.empty());
    EXPECT_EQ(ids_of(with(post + "6", std::vector<std::uint8_t>(4096)).checked()),
              "post_extension_channels ");
    for (const char* const rows : {"3", "8"}) {
        Image image = with(post + "5", std::vector<std::uint8_t>(4096));
        image.replace("rows=4", fmt::format("rows={}", rows));
        EXPECT_EQ(ids_of(image.checked()), "register_value ") << rows;
    }
}

TEST(ImageLayouts, PixelsHaveAFormatAndAnOffsetThatTheNpuTakes) {
    const auto ids = [](const std::string& pixels, const NpuConfig& npu) {
        Image image = with("name: x, " + pixels, std::vector<std::uint8_t>(4096));
        image.npu = npu;
        return ids_of(image.checked());
    };
    const std::string offset = "layout: T_A8B8G8R8, shape: 1x4x3x5, x_offset: ";
    EXPECT_EQ(ids(offset + "7", full_npu()), "");
    EXPECT_EQ(ids(offset + "8", full_npu()), "register_value ");
    EXPECT_EQ(ids(offset + "1", sample::small_npu()), "");
    EXPECT_EQ(ids(offset + "2", sample::small_npu()), "register_value ");
    for (const char* const wide : {"T_A16B16G16R16", "T_A2B10G10R10", "T_A16B16G16R16_F"}) {
        const std::string pixels = fmt::format("layout: {}, shape: 1x4x3x5", wide);
        EXPECT_EQ(ids(pixels, full_npu()), "") << wide;
        EXPECT_EQ(ids(pixels, sample::small_npu()), "absent_feature ") << wide;
    }
}

TEST(ImageLayouts, ImagesOfOtherChipsNeedTheirPreset) {
    Image image = with("name: x, layout: 4W4C8B, shape: 1x4x4x4", std::vector<std::uint8_t>(4096));
    image.npu.surfaces.inputs.clear();
    EXPECT_EQ(ids_of(image.checked()), "absent_feature ");
    const ImageTarget none{"none", nullptr, image.memory};
    EXPECT_THROW(check_image_description(
                     parse_image("surfaces: [{name: x, layout: feature, shape: 1x1x1x1, address: "
                                 "0x80000000}]",
                                 "a"),
                     none, image.load()),
                 ConfigError);
}

TEST(ImageValues, ThatAreNoNumbersAreTold) {
    std::vector<std::uint8_t> bytes(64);
    Image image = with("name: x, layout: feature, type: fp16, shape: 1x3x1x2", std::move(bytes));
    EXPECT_TRUE(image.checked().findings.empty());
    image.files["x.bin"][32 + 2 * 2 + 1] = 0x7e;
    const CheckReport report = image.checked();
    ASSERT_EQ(ids_of(report), "not_a_number ");
    EXPECT_EQ(report.findings.front().address, Address(0x80000000 + 36));
    image.files["x.bin"][32 + 2 * 2 + 1] = 0;
    image.files["x.bin"][2 * 3 + 1] = 0xfe;
    EXPECT_EQ(ids_of(image.checked()), "nan_in_lanes ");
    image.files["x.bin"][2 * 3 + 1] = 0xfc;  // infinite
    EXPECT_TRUE(image.checked().findings.empty());
}

TEST(ImageValues, LieInTheirRange) {
    Image image = with("name: x, layout: feature, shape: 1x1x1x2, values: -3..5",
                       std::vector<std::uint8_t>(64));
    EXPECT_TRUE(image.checked().findings.empty());
    image.files["x.bin"][32] = 6;
    EXPECT_EQ(ids_of(image.checked()), "values_outside ");
    image.files["x.bin"][32] = 0xfd;
    EXPECT_TRUE(image.checked().findings.empty());
    EXPECT_THROW(with("name: x, layout: feature, shape: 1x1x1x2, values: 5", {}).checked(),
                 ConfigError);
}

Image compressed_image() {
    const sample::SampleImage sample;
    Image image;
    image.text = sample.text;
    image.files = sample.files;
    return image;
}

TEST(ImageValues, OfCompressedWeightsAreThoseOfTheWeights) {
    Image image = compressed_image();
    image.replace("bytes: 1280", "bytes: 1280, values: 0..3");
    image.files["weight.bin"].resize(2560, 9);  // of another surface
    EXPECT_TRUE(image.checked().findings.empty()) << ids_of(image.checked());
    image.files["weight.bin"][1] = 7;  // every second weight is kept
    const CheckReport report = image.checked();
    ASSERT_EQ(ids_of(report), "values_outside ");
    EXPECT_EQ(report.findings.front().sentence,
              "'weight' has 1 value outside 0..3, the first (7) at kernel 0, channel 2, row 0, "
              "column 0");
    EXPECT_EQ(report.findings.front().address, Address(0x80000001));
    image.replace("0..3", "1..7");  // the weights that are not kept are 0
    EXPECT_EQ(image.checked().findings.front().address, Address(0x80000000));
    image.files["wmb.bin"].resize(256);
    EXPECT_EQ(ids_of(image.checked()), "never_loaded ");
}

TEST(ImageValues, OfCompressedWeightsAreNumbers) {
    Image image = compressed_image();
    image.replace("type: int8, shape: 40x64x1x1, address: 0x80000000, bytes: 1280",
                  "type: fp16, shape: 40x64x1x1, address: 0x80000000, bytes: 2560");
    image.replace("address: 0x80003000, bytes: 8", "address: 0x80003000, bytes: 12");
    image.files["weight.bin"].resize(2560, 3);
    image.files["wgs.bin"] = {0, 4, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0};
    EXPECT_TRUE(image.checked().findings.empty()) << ids_of(image.checked());
    image.files["weight.bin"][2 * 4 + 1] = 0x7e;
    const CheckReport report = image.checked();
    ASSERT_EQ(ids_of(report), "not_a_number ");
    EXPECT_EQ(report.findings.front().address, Address(0x80000008));
}

TEST(ImageDifferences, AreOfElementsWhateverTheLayout) {
    Image feature = with("name: x, layout: feature, shape: 1x2x1x2", std::vector<std::uint8_t>(64));
    feature.files["x.bin"][1] = 7;
    feature.files["x.bin"][32] = 8;
    Image plain = with("name: x, layout: nchw, shape: 1x2x1x2", {0, 8, 7, 0});
    EXPECT_TRUE(image_differences(feature.contents(), plain.contents()).empty());
    plain.files["x.bin"][3] = 1;
    const Diagnostics found = image_differences(feature.contents(), plain.contents());
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found.front().id, "surface_differs");
    EXPECT_EQ(found.front().address, Address(0x80000021));
    plain.text = "surfaces: [{name: y, layout: raw, bytes: 1, address: 0x80000000}]";
    EXPECT_EQ(image_differences(feature.contents(), plain.contents()).size(), 1U);
}

TEST(ImageDifferences, OfCompressedWeightsAreThoseOfTheWeights) {
    const Image compressed = compressed_image();
    const ImageContents contents = compressed.contents();
    const std::vector<std::uint8_t> weights = contents.elements(*contents.find("weight"));
    ASSERT_EQ(weights.size(), 2560U);
    EXPECT_EQ(std::ranges::count(weights, 3), 1280);
    EXPECT_EQ(weights[0], 3);
    EXPECT_EQ(weights[1], 0);
}

TEST(ImageFiles, HaveTheFormatOfTheirEndingInLettersOfAnyCase) {
    ImageFile file;
    for (const char* name : {"a.hex", "A.HEX", "a.Ihx"}) {
        file.file = name;
        EXPECT_EQ(image_of(file, ":0100000005FA\n:00000001FF\n").bytes,
                  std::vector<std::uint8_t>{5})
            << name;
    }
}

TEST(ImageLifetimes, SurfacesMayFollowEachOtherInOnePlace) {
    Image image;
    image.text = "results:\n";
    image.add(
        "name: a, layout: feature, shape: 1x8x1x1, address: 0x80000000, bytes: 32, "
        "first_operation: 0, last_operation: 1");
    image.add(
        "name: b, layout: feature, shape: 1x8x1x1, address: 0x80000000, bytes: 32, "
        "first_operation: 2, last_operation: 3");
    EXPECT_TRUE(image.checked().findings.empty());
    image.add(
        "name: c, layout: feature, shape: 1x8x1x1, address: 0x80000000, bytes: 32, "
        "first_operation: 3, last_operation: 3");
    EXPECT_EQ(ids_of(image.checked()), "surface_overlap ");
}

}  // namespace
}  // namespace npuscope
