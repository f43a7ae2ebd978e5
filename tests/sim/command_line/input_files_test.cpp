// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/input_files.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>
#include <png.h>

#include <fstream>
#include <limits>

#include "tests/sim/convert/sample_pictures.h"
#include "tests/sim/message_of.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class InputFiles : public ::testing::Test {
 protected:
    void SetUp() override {
        graph_.inputs = {"x"};
        graph_.types["x"] = {ElementType::Float32, {1, 3, 1, 2}};
        put("rgb.png", sample::png(2, 1, PNG_FORMAT_RGB, {10, 20, 30, 40, 50, 60}));
    }
    void put(const std::string& name, const std::string& bytes) {
        std::filesystem::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
    }
    void put_array(const std::string& name, const Sizes& sizes, ElementType type) {
        GraphValue value = zeros({type, sizes});
        for (std::size_t i = 0; i < value.numbers.size(); ++i) {
            value.numbers[i] = static_cast<double>(i + 1);
        }
        put(name, npy_bytes(value));
    }
    std::vector<double> read(const std::string& name, const PixelChoices& choices = {}) const {
        return InputReader(graph_, choices).read("x", folder_ / name).numbers;
    }
    std::string refusal(const std::string& name, const PixelChoices& choices = {}) const {
        return sample::message_of([&] { read(name, choices); });
    }

    const TempFolder folder_;
    Graph graph_;
};

TEST_F(InputFiles, PicturesBecomePlanesOfChannelsOrPixelAfterPixel) {
    EXPECT_THAT(read("rgb.png"), ElementsAre(10, 40, 20, 50, 30, 60));
    EXPECT_THAT(read("rgb.png", {.order = ChannelOrder::Bgr}), ElementsAre(30, 60, 20, 50, 10, 40));
    graph_.types["x"].sizes = {1, 1, 2, 3};  // one channel of 1 x 2 x 3 is not such a picture
    EXPECT_THAT(refusal("rgb.png"), HasSubstr("but the model takes 1x1x2x3"));
    graph_.types["x"].sizes = {1, 1, 2, 1};
    put("grey.pgm", "P5 1 2 255\nab");
    EXPECT_THAT(read("grey.pgm"), ElementsAre('a', 'b'));
}

TEST_F(InputFiles, AnArrayOfOneMapNeedsNoBatch) {
    put_array("map.npy", {3, 1, 2}, ElementType::Int8);
    EXPECT_THAT(read("map.npy"), ElementsAre(1, 2, 3, 4, 5, 6));
    put_array("other.npy", {3, 2, 1}, ElementType::Int8);
    EXPECT_THAT(refusal("other.npy"), HasSubstr("the array is 3x2x1"));
}

TEST_F(InputFiles, GreyPicturesHaveNoOrderOfChannels) {
    graph_.types["x"].sizes = {1, 1, 2, 1};
    put("grey.pgm", "P5 1 2 255\nab");
    const InputReader reader(graph_, {.order = ChannelOrder::Bgr});
    reader.read("x", folder_ / "grey.pgm");
    EXPECT_EQ(sample::message_of([&] { reader.require_use_of_choices(); }),
              "--order: no effect on the inputs, which are grey: they have a single channel "
              "(leave it out)");
}

TEST_F(InputFiles, OfAModelWithChannelsLastStayAsTheyAre) {
    graph_.types["x"].sizes = {1, 2, 1, 3};
    put("tall.png", sample::png(1, 2, PNG_FORMAT_RGB, {1, 2, 3, 4, 5, 6}));
    EXPECT_THAT(read("tall.png"), ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_THAT(read("tall.png", {.mean = "1,0,0", .scale = "1,1,10"}),
                ElementsAre(0, 2, 30, 3, 5, 60));
}

TEST_F(InputFiles, PixelsLessTheMeanAreScaled) {
    EXPECT_THAT(read("rgb.png", {.mean = "10", .scale = "1/2"}), ElementsAre(0, 15, 5, 20, 10, 25));
    EXPECT_THAT(read("rgb.png", {.mean = "10,20,30", .scale = "1,2,0.5"}),
                ElementsAre(0, 30, 0, 60, 0, 15));
    put_array("bytes.npy", {1, 3, 1, 2}, ElementType::Uint8);
    EXPECT_THAT(read("bytes.npy", {.scale = "2"}), ElementsAre(2, 4, 6, 8, 10, 12));
    put_array("floats.npy", {1, 3, 1, 2}, ElementType::Float32);  // are what the model accepts
    EXPECT_THAT(read("floats.npy", {.scale = "2"}), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(InputFiles, NothingIsResizedOrGuessed) {
    put("large.png", sample::png(4, 4, PNG_FORMAT_RGB, sample::bytes(48)));
    EXPECT_THAT(refusal("large.png"), HasSubstr("large.png: the picture has 4 rows, 4 columns and "
                                                "3 channels, but the model takes 1x3x1x2"));
    EXPECT_THAT(refusal("large.png"), HasSubstr("npuscope does not resize"));
    put("grey.png", sample::png(2, 1, PNG_FORMAT_GRAY, {1, 2}));
    EXPECT_THAT(refusal("grey.png"), HasSubstr("1 channel"));
    EXPECT_THAT(refusal("rgb.png", {.mean = "1,2"}),
                HasSubstr("--mean has 2 numbers where the input has 3 channels"));
    for (const char* text : {"", "a", "1,", "1;2", "1/0", "nan", "1e999", "0x10", " 1"}) {
        EXPECT_THAT(refusal("rgb.png", {.scale = text}), HasSubstr("is neither a number")) << text;
    }
    EXPECT_THAT(refusal("rgb.png", {.scale = "1,0,1"}),
                HasSubstr("--scale '1,0,1': a factor of 0 makes all pixels 0"));
    put_array("two.npy", {2, 3, 1, 2}, ElementType::Float32);
    EXPECT_THAT(refusal("two.npy"), HasSubstr("the array holds 2 inputs"));
    put_array("wrong.npy", {1, 3, 2, 2}, ElementType::Float32);
    EXPECT_THAT(refusal("wrong.npy"), HasSubstr("the array is 1x3x2x2, but the model takes"));
}

TEST_F(InputFiles, CasesAreFilesFoldersOrTheFirstSizeOfAnArray) {
    const auto count = [&](const char* path) {
        return InputReader(graph_, {}).cases(folder_ / path).size();
    };
    put_array("many.npy", {4, 3, 1, 2}, ElementType::Uint8);
    EXPECT_EQ(count("many.npy"), 4U);
    put_array("mixed/b.npy", {2, 3, 1, 2}, ElementType::Float32);
    put("mixed/a.png", sample::png(2, 1, PNG_FORMAT_RGB, sample::bytes(6)));
    put("mixed/readme.txt", "not an input");
    EXPECT_EQ(count("mixed"), 3U);
    EXPECT_EQ(InputReader(graph_, {}).cases(folder_ / "mixed")[0].at("x").numbers[0], 1);
    put_array("folders/1/x.npy", {1, 3, 1, 2}, ElementType::Float32);
    put("folders/2/x.png", sample::png(2, 1, PNG_FORMAT_RGB, sample::bytes(6)));
    EXPECT_EQ(count("folders"), 2U);
}

TEST_F(InputFiles, CalibrationHoldsNoNaN) {
    GraphValue many = zeros({ElementType::Float32, {4, 3, 1, 2}});
    many.numbers[6 + 3] = std::numeric_limits<double>::quiet_NaN();
    put("nan/many.npy", npy_bytes(many));
    const auto told = [&](InputUse use) {
        return sample::message_of([&] { InputReader(graph_, {}, use).cases(folder_ / "nan"); });
    };
    EXPECT_THAT(told(InputUse::Calibration),
                HasSubstr("nan/many.npy: element [1, 1, 0, 1] is NaN (calibrate with typical"));
    EXPECT_EQ(told(InputUse::Run), "");
}

TEST_F(InputFiles, SizesOfArraysAreFoundWithoutTheModelsSizes) {
    const auto found = [&](const std::vector<std::string>& inputs, const std::string& path) {
        std::vector<std::pair<std::string, Sizes>> arrays;
        for (const GivenArray& array : given_arrays(inputs, folder_ / path)) {
            arrays.emplace_back(array.input, array.sizes);
        }
        return arrays;
    };
    const std::pair<std::string, Sizes> x{"x", {2, 5}};
    const std::pair<std::string, Sizes> r{"r", {7}};
    put_array("cases/1/x.npy", {2, 5}, ElementType::Int64);
    put_array("cases/1/r.npy", {7}, ElementType::Float32);
    EXPECT_THAT(found({"x", "r"}, "cases/1"), ElementsAre(x, r));
    EXPECT_THAT(found({"x", "r"}, "cases"), ElementsAre(x, r));
    EXPECT_THAT(found({"x"}, "cases/1/x.npy"), ElementsAre(x));
    put_array("plain/a.npy", {2, 5}, ElementType::Float32);
    put("plain/b.png", sample::png(2, 1, PNG_FORMAT_GRAY, {1, 2}));  // has no sizes to take
    EXPECT_THAT(found({"x"}, "plain"), ElementsAre(x));
    EXPECT_THAT(found({"x", "r"}, "plain"), ElementsAre());
    EXPECT_THAT(found({"x"}, "missing"), ElementsAre());
}

TEST_F(InputFiles, OfOneNameThereIsOneFile) {
    put_array("both/x.npy", {1, 3, 1, 2}, ElementType::Float32);
    put("both/x.png", sample::png(2, 1, PNG_FORMAT_RGB, sample::bytes(6)));
    EXPECT_THAT(sample::message_of([&] { InputReader::find("x", folder_ / "both"); }),
                HasSubstr("holds both x.npy and x.png"));
    EXPECT_FALSE(InputReader::find("y", folder_ / "both"));
}

}  // namespace
}  // namespace npuscope
