// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/sim/command_line/typed.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

sample::Answer convert(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "convert");
    return sample::typed(arguments, {convert_command()});
}

class CommandConvert : public testing::Test {
 protected:
    std::string path(const char* name) const { return (folder_ / name).string(); }
    std::string write(const char* name, const std::string& bytes) const {
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
        return path(name);
    }
    std::string read(const char* name) const {
        std::ifstream file(folder_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }

    const TempFolder folder_;
};

TEST_F(CommandConvert, BothSpellingsOfQuantiseAreAccepted) {
    const std::string in = write("in", std::string("\0\0\0\x3f", 4));  // 0.5
    for (const char* option : {"--quantise", "--quantize"}) {
        const auto answer =
            convert({"--shape", "1", "--type", "int8", option, "scale=1,radix=4", in, path("out")});
        EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
        EXPECT_EQ(read("out"), "\x08") << option;
    }
    const std::vector<std::string> both{"--shape",      "1",       "--quantise", "scale=1",
                                        "--dequantize", "scale=1", in,           path("out")};
    EXPECT_NE(convert(both).err.find("--quantise and --dequantise are given together"),
              std::string::npos);
}

TEST_F(CommandConvert, MovesAFileIntoANamedLayout) {
    const std::string in = write("in", "aAbBcC");
    const auto answer =
        convert({"--shape", "1x3x1x2", "--type", "int8", "--to", "4W4C8B", in, path("out")});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_EQ(read("out"), std::string("abc\0ABC\0\0\0\0\0\0\0\0\0", 16));
    EXPECT_EQ(answer.out, in + " -> " + path("out") + ": nchw N1 C3 H1 W2 to 4W4C8B, 16 bytes\n");
}

TEST_F(CommandConvert, ManyFilesGoIntoAFolder) {
    const std::string first = write("first", "abcd"), second = write("second", "ABCD");
    EXPECT_EQ(convert({"--shape", "1x2x1x2", "--type", "int8", "--to", "nhwc", first, second,
                       path("all")})
                  .code,
              ExitCode::Good);
    EXPECT_EQ(read("all/first"), "acbd");
    EXPECT_EQ(read("all/second"), "ACBD");
    EXPECT_EQ(convert({"--shape", "1x2x1x2", "--type", "int8", first, first, path("all")}).code,
              ExitCode::WrongInput);
}

TEST_F(CommandConvert, AFolderOfTheInputsIsRefused) {
    const std::string first = write("first", "abcd"), second = write("second", "ABCD");
    const auto answer = convert(
        {"--shape", "1x2x1x2", "--type", "int8", "--to", "nhwc", first, second, folder_.string()});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_NE(answer.err.find("is also an input; the output would overwrite it"), std::string::npos)
        << answer.err;
    EXPECT_EQ(read("first"), "abcd");
}

TEST_F(CommandConvert, NothingIsWrittenWhereAnInputIsMissing) {
    const std::string first = write("first", "abcd");
    const auto answer = convert({"--shape", "1x2x1x2", "--type", "int8", "--to", "nhwc", first,
                                 path("missing"), path("all")});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_NE(answer.err.find("missing': no such file"), std::string::npos) << answer.err;
    EXPECT_FALSE(fs::exists(folder_ / "all"));
}

TEST_F(CommandConvert, ExplainsHowAByteComesAbout) {
    const auto answer = convert(
        {"--shape", "1x40x3x5", "--type", "int8", "--to", "1W16C8B", "--explain", "0,17,2,3"});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_NE(answer.out.find("C/16     =      1 x        240 =        240 bytes"),
              std::string::npos);
    EXPECT_NE(answer.out.find("byte 449 = 0x1c1 (of 720)"), std::string::npos);
    EXPECT_EQ(convert({"--shape", "1x40x3x5", "--to", "1W16C8B", "--explain", "0,40,0,0"}).code,
              ExitCode::WrongInput);
}

TEST_F(CommandConvert, ExplainsTransformedKernels) {
    const auto answer = convert({"--axes", "KCRS", "--shape", "4x3x3x3", "--to", "weight_winograd",
                                 "--explain", "1,2,3,3"});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_NE(answer.out.find("of K4 C32 R4 S4"), std::string::npos) << answer.out;
}

TEST_F(CommandConvert, NamesAfterTwoDashesMayLookLikeOptions) {
    const fs::path before = fs::current_path();
    fs::current_path(folder_.path());
    write("in", "abcd");
    const auto answer =
        convert({"--shape", "1x2x1x2", "--type", "int8", "--to", "nhwc", "in", "--", "-o.bin"});
    fs::current_path(before);
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_EQ(read("-o.bin"), "acbd");
}

TEST_F(CommandConvert, ALinkToTheInputIsTheInput) {
    const std::string in = write("in", "abcd");
    fs::create_symlink(in, folder_ / "link");
    const auto answer = convert({"--shape", "1x2x1x2", "--type", "int8", in, path("link")});
    EXPECT_NE(answer.err.find("is also an input"), std::string::npos) << answer.err;
}

TEST_F(CommandConvert, DrawsEntriesAsTheVendorsTablesDo) {
    const auto answer =
        convert({"--shape", "1x3x2x5", "--type", "int8", "--to", "4W4C8B", "--picture", "2"});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_NE(answer.out.find("[127:120]"), std::string::npos);
    EXPECT_NE(answer.out.find("P0CH2     P0CH1     P0CH0\n"), std::string::npos);
    EXPECT_NE(answer.out.find("-     P4CH2     P4CH1     P4CH0\n"), std::string::npos);
}

TEST_F(CommandConvert, StridesThatSayTwoThingsAreReported) {
    const std::string in = write("in", std::string(600, 'x'));
    const auto answer = convert({"--shape", "1x40x3x5", "--type", "int8", "--to", "1W16C8B",
                                 "--stride-npu", "720,1,80,16", in, path("out")});
    EXPECT_EQ(answer.code, ExitCode::Good);
    EXPECT_TRUE(answer.err.starts_with("warning: ambiguous strides of 1W16C8B")) << answer.err;
    EXPECT_EQ(read("out").size(), 2160U);
    convert({"--shape", "1x40x3x5", "--type", "int8", "--to", "1W16C8B", "--stride-npu",
             "720,1,80,16", "--group-rule", "extent", in, path("out")});
    EXPECT_EQ(read("out").size(), 720U);
}

TEST_F(CommandConvert, WhatCannotBeIsRefusedWithTheNumbers) {
    const std::string in = write("in", "abc");
    const auto refused = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), {in, path("out")});
        const auto answer = convert(arguments);
        EXPECT_EQ(answer.code, ExitCode::WrongInput);
        EXPECT_FALSE(fs::exists(path("out")));
        return answer.err;
    };
    EXPECT_NE(refused({"--shape", "1x3x1x2", "--type", "int8"}).find("has 3 bytes"),
              std::string::npos);
    EXPECT_NE(refused({"--shape", "1x5x1x2", "--type", "int8", "--to", "4W4C8B"})
                  .find("at most 4 on axis C"),
              std::string::npos);
    EXPECT_NE(
        refused({"--shape", "1x3x1x1", "--type", "int8", "--to", "4W4C"}).find("did you mean"),
        std::string::npos);
    EXPECT_NE(refused({"--shape", "1x3x1x1", "--type", "int9"}).find("did you mean 'int8'"),
              std::string::npos);
    EXPECT_NE(refused({"--shape", "1x3x1", "--type", "int8", "--stride-npu", "3,1,1"}), "");
    EXPECT_NE(refused({"--shape", "1xx1", "--type", "int8"}), "");
    EXPECT_NE(refused({"--type", "int8"}).find("--shape is missing"), std::string::npos);
    EXPECT_NE(refused({"--shape", "1x3x1x1"}).find("--type is missing"), std::string::npos);
}

TEST_F(CommandConvert, NothingIsWrittenWhereALaterStepIsWrong) {
    const std::string in = write("in", "abcd"), longer = write("longer", "abcdefgh");
    const auto refused = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"--shape", "1x2x1x2", "--type", "int8"});
        const auto answer = convert(arguments);
        EXPECT_EQ(answer.code, ExitCode::WrongInput);
        EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()),
                  2);
        return answer.err;
    };
    EXPECT_NE(refused({in, path("out"), "--explain", "0,2,0,0"})
                  .find("--explain 0,2,0,0 is not an element of N1 C2 H1 W2"),
              std::string::npos);
    EXPECT_NE(refused({in, longer, path("all/")}).find("longer' has 8 bytes of data"),
              std::string::npos);
    EXPECT_NE(refused({in, in, path("all/")}).find("(convert them into different folders)"),
              std::string::npos);
    EXPECT_NE(refused({in, in}).find("'" + in + "' is also an input; the output would overwrite"),
              std::string::npos);
    EXPECT_NE(refused({in, path("b"), "--json", path("b")}).find("both --json and OUT write '"),
              std::string::npos);
    EXPECT_NE(refused({in, path("b"), "--wmb", path("m"), "--wgs", path("m")})
                  .find("both --wmb and --wgs write '"),
              std::string::npos);
    EXPECT_NE(refused({in, "-"}).find("OUT cannot be written to standard output (name a file)"),
              std::string::npos);
}

TEST_F(CommandConvert, OptionsWithoutEffectAreRefused) {
    const auto refused = [](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"--shape", "1x3x8x8", "--type", "int8"});
        return convert(arguments).err;
    };
    EXPECT_EQ(refused({"--picture", "--group-rule", "extent"}),
              "npuscope: --group-rule: no effect without --stride-npu (give both, or leave it "
              "out)\n");
    EXPECT_EQ(refused({"--picture", "--json", "j"}),
              "npuscope: --json: no effect without files (name IN and OUT)\n");
    for (const char* number : {"-1", "0", "4294967295"}) {
        EXPECT_EQ(refused({"--picture", number}),
                  std::string("npuscope: --picture: '") + number +
                      "' is not a whole number from 1 to 4096 (see `npuscope convert --help`)\n");
    }
}

TEST_F(CommandConvert, TellsWhatWasDoneAsJson) {
    const std::string in = write("in", "abcd");
    const auto answer = convert({"--shape", "1x4x1x1", "--type", "int8", "--to", "feature:atom=8",
                                 "--json", "-", in, path("out")});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_NE(answer.out.find("\"sentence\": \"N C/8 H W C%8\""), std::string::npos);
    EXPECT_NE(answer.err.find(" -> "), std::string::npos);
}

}  // namespace
}  // namespace npuscope
