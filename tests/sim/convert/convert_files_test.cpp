// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <iterator>

#include "models/layout/relayout.h"
#include "sim/convert/conversion.h"
#include "tests/sim/message_of.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

class ConvertFiles : public testing::Test {
 protected:
    fs::path write(const char* name, const std::string& bytes) const {
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
        return folder_ / name;
    }
    static std::string read(const fs::path& path) {
        std::ifstream file(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }
    static FileConversion job(const char* from, const char* to, const char* shape,
                              const char* type) {
        FileConversion job;
        job.request.from = parse_layout_spec(from);
        job.request.to = parse_layout_spec(to);
        job.type = type;
        if (*shape != 0) {
            job.request.shape = parse_shape(shape, "NCHW");
        }
        return job;
    }
    std::size_t files() const {
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
    }

    const TempFolder folder_;
};

std::string values(std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) {
        text += static_cast<char>(i * 31 % 251);
    }
    return text;
}

TEST_F(ConvertFiles, RawBytesAndArraysGoThereAndBack) {
    const std::string plain = values(600);
    const fs::path raw = write("raw", plain);
    convert_file(job("nchw", "1W16C8B", "1x40x3x5", "int8"), raw, folder_ / "npu");
    EXPECT_EQ(fs::file_size(folder_ / "npu"), 720U);
    convert_file(job("1W16C8B", "nchw", "1x40x3x5", "int8"), folder_ / "npu",
                 folder_ / "sub" / "back.npy");
    const std::string back = read(folder_ / "sub" / "back.npy");
    EXPECT_EQ(back.substr(back.size() - 600), plain);
    convert_file(job("nchw", "nhwc", "", ""), folder_ / "sub" / "back.npy", folder_ / "last.npy");
    EXPECT_NE(read(folder_ / "last.npy").find("(1, 3, 5, 40)"), std::string::npos);
    convert_file(job("nhwc", "nchw", "1x40x3x5", ""), folder_ / "last.npy", folder_ / "again");
    EXPECT_EQ(read(folder_ / "again"), plain);
}

TEST_F(ConvertFiles, ArraysOfSwappedBytesHoldBytes) {
    std::string halves = values(2 * 48);
    for (std::size_t low = 0; low < halves.size(); low += 2) {
        halves[low] = static_cast<char>(halves[low] & '\xfe');  // the format has 15 bits
    }
    const fs::path raw = write("raw", halves);
    convert_file(job("nchw", "HW1C16B_BE", "1x3x4x4", "int16"), raw, folder_ / "be.npy");
    EXPECT_NE(read(folder_ / "be.npy").find("(96,)"), std::string::npos);
    convert_file(job("HW1C16B_BE", "nchw", "1x3x4x4", "int16"), folder_ / "be.npy",
                 folder_ / "back");
    EXPECT_EQ(read(folder_ / "back"), halves);
}

TEST_F(ConvertFiles, WeightsAreCompressed) {
    std::string weights(64, '\0');
    weights[1] = 5;
    weights[40] = 6;
    FileConversion compress = job("kcrs", "weight_dc:group=2,cube=8", "", "int8");
    compress.request.shape = parse_shape("4x16x1x1", "KCRS");
    compress.wmb = folder_ / "wmb";
    EXPECT_THROW(convert_file(compress, write("raw", weights), folder_ / "values"), ConfigError);
    compress.wgs = folder_ / "wgs";
    EXPECT_EQ(convert_file(compress, folder_ / "raw", folder_ / "values").bytes, 128U);
    EXPECT_EQ(read(folder_ / "values").substr(0, 3), std::string("\5\6\0", 3));
    EXPECT_EQ(read(folder_ / "wgs"), std::string("\1\0\0\0\1\0\0\0", 8));
    EXPECT_EQ(fs::file_size(folder_ / "wmb"), 128U);
    compress.request.to = parse_layout_spec("kcrs");
    EXPECT_THROW(convert_file(compress, folder_ / "raw", folder_ / "values"), ConfigError);
}

/// The header of an array, and its elements.
std::pair<NpyHeader, std::string> array_in(const std::string& file) {
    const NpyHeader header =
        read_npy_header({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, "array");
    return {header, file.substr(header.data_begin)};
}

class CompressedFiles : public ConvertFiles {
 protected:
    FileConversion compress(const char* wmb, const char* wgs) const {
        FileConversion compress = job("kcrs", "weight_dc:group=2,cube=8", "", "int8");
        compress.request.shape = parse_shape("4x16x1x1", "KCRS");
        compress.wmb = folder_ / wmb;
        compress.wgs = folder_ / wgs;
        return compress;
    }
};

TEST_F(CompressedFiles, AreArraysWhereTheirNamesSaySo) {
    const fs::path raw = write("raw", "\1" + std::string(62, '\0') + "\2");
    convert_file(compress("m", "g"), raw, folder_ / "v");
    convert_file(compress("m.npy", "g.NPY"), raw, folder_ / "v.npy");
    for (const auto& [name, array, type] :
         {std::tuple{"v", "v.npy", "int8"}, std::tuple{"m", "m.npy", "uint8"},
          std::tuple{"g", "g.NPY", "uint32"}}) {
        const auto [header, elements] = array_in(read(folder_ / array));
        EXPECT_EQ(header.type->name, type);
        EXPECT_EQ(elements, read(folder_ / name)) << array;
    }
}

TEST_F(CompressedFiles, AppearTogetherOrNotAtAll) {
    FileConversion full = compress("m", "g");
    full.wgs = "/dev/full";
    EXPECT_NE(
        sample::message_of([&] { convert_file(full, write("raw", values(64)), folder_ / "v"); }),
        "");
    EXPECT_EQ(files(), 1U);
}

TEST_F(CompressedFiles, AreNotExpanded) {
    FileConversion back = compress("m", "g");
    std::swap(back.request.from, back.request.to);
    EXPECT_NE(sample::message_of([&] {
                  plan_file(back, write("raw", values(10)));
              }).find("check IMAGE --dump"),
              std::string::npos);
}

TEST_F(ConvertFiles, FilesThatOnlyLookLikeArraysAreNamed) {
    const auto refusal = [&](const char* name, const std::string& bytes) {
        const fs::path file = write(name, bytes);
        const std::string message =
            sample::message_of([&] { plan_file(job("nchw", "nchw", "", ""), file); });
        return message.substr(0, message.find(" ("));
    };
    const auto quoted = [&](const char* name) { return "'" + (folder_ / name).string() + "' "; };
    EXPECT_EQ(refusal("e.npy", ""), quoted("e.npy") + "is empty");
    EXPECT_EQ(refusal("g.npy", "garbage"), quoted("g.npy") + "is not a .npy file");
    EXPECT_EQ(refusal("z.npz", "PK\3\4.."), quoted("z.npz") + "is an archive of arrays");
}

TEST_F(ConvertFiles, TheAxesOfAnArrayAreThoseOfTheWeightsThatItBecomes) {
    const std::array<std::uint64_t, 4> shape{2, 3, 1, 2};
    const fs::path array = write("w.npy", npy_header(find_element("int8"), shape) + values(12));
    const ConversionPlan conversion = plan_file(job("nchw", "weight_dc", "", ""), array);
    EXPECT_EQ(to_string(conversion.target.shape), "K2 C3 R1 S2");
}

TEST_F(ConvertFiles, KernelsAreTransformedForWinograd) {
    std::string kernel(9, '\0');
    kernel[0] = 4;
    FileConversion transform = job("kcrs", "weight_winograd", "", "int8");
    transform.request.shape = parse_shape("1x1x3x3", "KCRS");
    convert_file(transform, write("raw", kernel), folder_ / "out");
    const std::string out = read(folder_ / "out");
    EXPECT_EQ(out.size(), 512U);  // 32 channels of 16 taps
    for (std::size_t tap = 0; tap < 16; ++tap) {
        static constexpr std::array expected{4, 2, 2, 0, 2, 1, 1, 0, 2, 1, 1, 0, 0, 0, 0, 0};
        EXPECT_EQ(out[4 * tap], expected[tap]) << tap;  // cubes of four channels
    }
    kernel.assign(9, 127);
    EXPECT_THROW(convert_file(transform, write("raw", kernel), folder_ / "out"), ConfigError);
    FileConversion halves = job("kcrs", "weight_winograd", "", "float16");
    halves.request.shape = transform.request.shape;
    std::string large;
    append_elements(ElementType::Float16, std::vector<double>(9, 60000), large);
    EXPECT_THROW(convert_file(halves, write("raw", large), folder_ / "out"), ConfigError);
}

TEST_F(ConvertFiles, WhatCannotBeIsRefusedAndNothingIsLeft) {
    const fs::path raw = write("raw", values(599));
    EXPECT_EQ(sample::message_of([&] {
                  convert_file(job("nchw", "1W16C8B", "1x40x3x5", "int8"), raw, folder_ / "out");
              }),
              "'" + raw.string() +
                  "' has 599 bytes of data, but nchw (N C H W) of N1 C40 H3 W5 with elements of 1 "
                  "byte takes 600 (give all bytes of the tensor, or correct --shape, --type or "
                  "--from)");
    EXPECT_NE(sample::message_of(
                  [&] { convert_file(job("nchw", "nchw", "", "int8"), raw, folder_ / "out"); }),
              "");
    EXPECT_NE(sample::message_of([&] {
                  convert_file(job("nchw", "nchw", "1x1x1x1", "int8"), folder_ / "none",
                               folder_ / "out");
              }),
              "");
    EXPECT_EQ(files(), 1U);
    EXPECT_EQ(sample::message_of([&] { plan_file(job("nchw", "nchw", "", "int8"), raw); }),
              raw.string() + ": --shape is missing (raw files do not carry it)");
    EXPECT_EQ(sample::message_of(
                  [&] { plan_file(job("nchw", "nchw", "1x1x1x1", "int8"), folder_ / "none"); }),
              "cannot read '" + (folder_ / "none").string() +
                  "': No such file or directory (put the file there, or correct its name)");
}

TEST_F(ConvertFiles, AFailureOnTheWayLeavesTheOldFile) {
    std::string floats(40 * 4, '\0');
    floats.replace(20 * 4, 4, "\xff\xff\xff\x7f");  // not a number
    const fs::path input = write("in", floats);
    const fs::path output = write("out", "old");
    FileConversion quantised = job("nchw", "nchw", "1x1x1x40", "int8");
    quantised.request.quantise = parse_quantisation("radix=3");
    EXPECT_NE(sample::message_of([&] { convert_file(quantised, input, output); }), "");
    EXPECT_EQ(read(output), "old");
    EXPECT_EQ(files(), 2U);
}

TEST_F(ConvertFiles, TheInputMayBeTheOutput) {
    const std::string plain = values(2 * 3 * 4);
    const fs::path file = write("file", plain);
    convert_file(job("nchw", "nhwc", "1x2x3x4", "int8"), file, file);
    convert_file(job("nhwc", "nchw", "1x2x3x4", "int8"), file, file);
    EXPECT_EQ(read(file), plain);
}

TEST_F(ConvertFiles, ArraysOfAnotherTypeOrShapeAreRefused) {
    const std::array<std::uint64_t, 4> shape{1, 2, 3, 4};
    const fs::path array = write("a.npy", npy_header(find_element("int16"), shape) + values(48));
    EXPECT_EQ(sample::message_of(
                  [&] { convert_file(job("nchw", "nhwc", "", "int8"), array, folder_ / "out"); }),
              "'" + array.string() +
                  "' holds int16, but layout nchw needs int8 here (give --type int16, or leave it "
                  "out)");
    const fs::path real = write("f.npy", npy_header(find_element("float32"), shape) + values(96));
    EXPECT_EQ(sample::message_of(
                  [&] { convert_file(job("nchw", "16W1C8B", "", "int8"), real, folder_ / "out"); }),
              "'" + real.string() +
                  "' holds float32, but layout nchw needs int8 here (--quantise scale=1,radix=5 "
                  "turns float32 into fixed point)");
    EXPECT_EQ(sample::message_of(
                  [&] { convert_file(job("nchw", "16W1C8B", "", ""), real, folder_ / "out"); }),
              "layout 16W1C8B holds elements of 1 byte, but the type has 4 bytes (the file holds "
              "float32: --type int8 with --quantise scale=1,radix=5 turns it into fixed point)");
    EXPECT_EQ(sample::message_of([&] {
                  convert_file(job("nchw", "nhwc", "1x2x4x3", ""), array, folder_ / "out");
              }),
              "'" + array.string() +
                  "' has shape (1, 2, 3, 4), but nchw of N1 C2 H4 W3 has shape (1, 2, 4, 3) (leave "
                  "out --shape)");
}

}  // namespace
}  // namespace npuscope
