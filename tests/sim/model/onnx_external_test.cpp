// SPDX-License-Identifier: Apache-2.0
// Weights in files next to a model.
#include "sim/model/onnx_external.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "tests/sim/message_of.h"
#include "tests/support/model_builder.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

using test::ModelBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OnnxExternal : public ::testing::Test {
 protected:
    /// x [1 2] * w [2 2] -> y, with w in a file.
    void write(const std::string& location, const std::string& offset = "4",
               const std::string& length = "16", int element = onnx::TensorProto_DataType_FLOAT) {
        ModelBuilder builder;
        builder.input("x", {1, 2}, element).node("MatMul", "fc", {"x", "w"}, "y").output("y");
        auto* tensor = builder.graph().add_initializer();
        tensor->set_name("w");
        tensor->set_data_type(element);
        tensor->add_dims(2);
        tensor->add_dims(2);
        tensor->set_data_location(onnx::TensorProto_DataLocation_EXTERNAL);
        for (const auto& [key, value] :
             {std::pair{std::string("location"), location},
              std::pair{std::string("offset"), offset}, std::pair{std::string("length"), length}}) {
            auto* entry = tensor->add_external_data();
            entry->set_key(key);
            entry->set_value(value);
        }
        std::ofstream(folder_ / "m.onnx", std::ios::binary) << builder.bytes();
    }
    void write_data() {
        const std::array<float, 5> numbers{9, 1, 2, 3, 4.5F};
        std::string bytes(sizeof numbers, '\0');
        std::memcpy(bytes.data(), numbers.data(), bytes.size());
        std::ofstream(folder_ / "w.bin", std::ios::binary) << bytes;
    }
    std::string refusal(bool by_shape = false) {
        return sample::message_of([&] { read_onnx(folder_ / "m.onnx", {{}, by_shape}); });
    }

    const TempFolder folder_;
};

TEST_F(OnnxExternal, DataAreReadFromTheirPlaceInTheFile) {
    write_data();
    write("w.bin");
    EXPECT_THAT(read_onnx(folder_ / "m.onnx").constant("w")->numbers, ElementsAre(1, 2, 3, 4.5));
}

TEST_F(OnnxExternal, AFileThatIsMissingIsNamedWithTheRemedyAndNotNeededByShape) {
    write("w.bin");
    EXPECT_THAT(refusal(), HasSubstr("w.bin', which is not there"));
    EXPECT_THAT(refusal(), HasSubstr("--values off"));
    EXPECT_EQ(refusal(true), "");
    const Graph graph = read_onnx(folder_ / "m.onnx", {{}, true});
    EXPECT_EQ(graph.constant("w")->numbers.size(), 4U);
    EXPECT_NE(graph.constant("w")->numbers[0], graph.constant("w")->numbers[1]);
}

TEST_F(OnnxExternal, TheFilesAreListed) {
    write("data/w.bin");
    EXPECT_THAT(external_files(folder_ / "m.onnx"), ElementsAre(folder_ / "data/w.bin"));
    std::ofstream(folder_ / "m.onnx") << "no model";
    EXPECT_THAT(external_files(folder_ / "m.onnx"), ElementsAre());
    EXPECT_THAT(external_files(folder_ / "none.onnx"), ElementsAre());
}

TEST_F(OnnxExternal, HostilePlacesAreRefused) {
    write_data();
    for (const char* location : {"../w.bin", "/etc/passwd", "a/../../w.bin", ""}) {
        write(location);
        EXPECT_THAT(refusal(), HasSubstr("outside the model's folder")) << location;
        EXPECT_THAT(refusal(true), HasSubstr("outside the model's folder")) << location;
    }
    write("w.bin", "8");
    EXPECT_THAT(refusal(), HasSubstr("bytes 8 to 24 of"));
    write("w.bin", "18446744073709551615");
    EXPECT_THAT(refusal(), HasSubstr("the file is truncated: copy it again"));
    write("w.bin", "0", "18446744073709551615");
    EXPECT_THAT(refusal(), HasSubstr("the file is truncated: copy it again"));
    write("w.bin", "0", "12");
    EXPECT_THAT(refusal(), HasSubstr("12 bytes where its sizes (2x2) need 16"));
    write("w.bin", "four");
    EXPECT_THAT(refusal(), HasSubstr("the offset of its data is 'four'"));
    write(".");
    EXPECT_NE(refusal(), "");
}

TEST_F(OnnxExternal, IntegersThatDecideSizesAreNotMadeUp) {
    write("none.bin", "0", "32", onnx::TensorProto_DataType_INT64);
    EXPECT_THAT(refusal(true),
                HasSubstr("its data are missing, and int64 data may determine shapes"));
}

TEST(OnnxHalves, AreReadAsBitsAndAsBytes) {
    ModelBuilder builder;
    builder.input("x", {1, 2}, onnx::TensorProto_DataType_FLOAT16);
    auto* tensor = builder.graph().add_initializer();
    tensor->set_name("w");
    tensor->set_data_type(onnx::TensorProto_DataType_FLOAT16);
    tensor->add_dims(2);
    tensor->add_int32_data(0x3c00);
    tensor->add_int32_data(0xc100);
    builder.node("Add", "add", {"x", "w"}, "y").output("y");
    EXPECT_THAT(parse_onnx(builder.bytes(), "m.onnx").constant("w")->numbers, ElementsAre(1, -2.5));
    tensor = builder.graph().mutable_initializer(0);
    tensor->clear_int32_data();
    tensor->set_raw_data(std::string("\x00\x3c\x00\xc1", 4));
    EXPECT_THAT(parse_onnx(builder.bytes(), "m.onnx").constant("w")->numbers, ElementsAre(1, -2.5));
}

}  // namespace
}  // namespace npuscope
