// SPDX-License-Identifier: Apache-2.0
// ONNX models on an NPU with registers, on the command line.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sim/config/file_io.h"
#include "sim/config/yaml_reader.h"
#include "sim/model/graph.h"
#include "tests/sim/command_line/typed.h"
#include "tests/support/float_model.h"
#include "tests/support/model_builder.h"
#include "tests/support/temp_folder.h"

namespace npuscope::model_commands_test {
namespace {

namespace fs = std::filesystem;
using sample::Answer;
using test::ModelBuilder;
using ::testing::HasSubstr;
using ::testing::Not;

Answer typed(const std::vector<std::string>& arguments) {
    return sample::typed(arguments, {run_command(), plan_command()});
}

std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
}

void append_layer(ModelBuilder& builder, const std::string& name) {
    builder.floats(name + "_w", {8, 8, 1, 1}, test::some_numbers(64, -127, 127, 3));
    builder.node("Conv", name, {builder.last(), name + "_w"});
    builder.node("Div", name + "_d", {builder.last(), "shift"});
    builder.node("Floor", name + "_f", {builder.last()});
    builder.node("Clip", name + "_c", {builder.last(), "low", "high"});
}

/// x -> layer 'in/a' -> Sigmoid or nothing -> layer 'b' -> y/out.
class ModelCommands : public ::testing::Test {
 protected:
    void SetUp() override {
        fs::create_directories(folder_ / "in");
        GraphValue input = zeros({ElementType::Int8, {1, 8, 5, 4}});
        for (std::size_t i = 0; i < input.numbers.size(); ++i) {
            input.numbers[i] = static_cast<double>(i * 37 % 251) - 125;
        }
        std::ofstream(folder_ / "in/x.npy", std::ios::binary) << npy_bytes(input);
    }

    std::string model(bool host_between) const {
        ModelBuilder builder;
        builder.floats("low", {}, {-128}).floats("high", {}, {127}).floats("shift", {}, {256});
        builder.input("x", {1, 8, 5, 4}).node("Identity", "same", {"x"});
        append_layer(builder, "in/a");
        if (host_between) {
            builder.node("Transpose", "turn \"it\"", {builder.last()}).ints("perm", {0, 1, 3, 2});
        }
        append_layer(builder, "b");
        builder.node("Identity", "last", {builder.last()}, "y/out").output("y/out");
        const fs::path path = folder_ / "model.onnx";
        std::ofstream(path, std::ios::binary) << builder.bytes();
        return path.string();
    }
    std::string at(const char* name) const { return (folder_ / name).string(); }

    const TempFolder folder_;
};

TEST_F(ModelCommands, WeightsInAFileOfTheirOwnAreNotOverwritten) {
    ModelBuilder builder = test::float_model();
    auto* weights = builder.graph().add_initializer();
    weights->set_name("unused");
    weights->set_data_type(onnx::TensorProto_DataType_FLOAT);
    weights->add_dims(2);
    weights->set_data_location(onnx::TensorProto_DataLocation_EXTERNAL);
    auto* entry = weights->add_external_data();
    entry->set_key("location");
    entry->set_value("w.fbuf");
    std::ofstream(folder_ / "m.onnx", std::ios::binary) << builder.bytes();
    std::ofstream(folder_ / "w.fbuf") << "weights.";
    const std::vector<Command> commands{run_command(), check_command(), plan_command(),
                                        quantise_command()};
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"run", at("m.onnx"), "--values", "off", "--json"},
          {"check", at("m.onnx"), "--json"},
          {"plan", at("m.onnx"), "--loadable"},
          {"quantise", at("m.onnx"), "--calibration", at("in"), "--out"}}) {
        std::vector<std::string> arguments = command;
        arguments.push_back(at("w.fbuf"));
        const Answer answer = sample::typed(arguments, commands);
        EXPECT_EQ(answer.code, ExitCode::WrongInput) << command.front();
        EXPECT_THAT(answer.err, HasSubstr("w.fbuf' is also an input")) << command.front();
    }
    EXPECT_EQ(read_whole_file(folder_ / "w.fbuf"), "weights.");
}

TEST_F(ModelCommands, RunsGiveTheHostsShareAndTheHostsNumbers) {
    const std::string path = model(true);
    const Answer shared = typed({"run", path, "--npu", "nv_small", "--inputs", at("in"),
                                 "--outputs", at("out"), "--json", "-", "--timeline",
                                 at("timeline.json"), "--set", "host.cycles_per_element=100"});
    EXPECT_EQ(shared.code, ExitCode::Good) << shared.err;
    for (const char* text : {"\"host\"", "\"share\": 0.", "\"segments\"", "\"unit\": \"host\"",
                             "\"cycles\": 16200", "built_segment_2"}) {
        EXPECT_THAT(shared.out, HasSubstr(text));
    }
    EXPECT_THAT(read(at("timeline.json")), HasSubstr("host.operator"));
    typed({"run", path, "--npu", "tinpu_f28p55", "--inputs", at("in"), "--outputs", at("other")});
    EXPECT_EQ(read(at("out/y%2Fout.npy")), read(at("other/y%2Fout.npy")));
    EXPECT_FALSE(read(at("out/y%2Fout.npy")).empty());
}

TEST_F(ModelCommands, RawBytesAreTheSameTensors) {
    const std::string path = model(false);
    typed({"run", path, "--inputs", at("in"), "--outputs", at("a")});
    const std::string array = read(at("in/x.npy"));
    fs::create_directories(folder_ / "raw");
    std::ofstream(folder_ / "raw/x.bin", std::ios::binary) << array.substr(array.size() - 160);
    const Answer raw = typed({"run", path, "--inputs", at("raw"), "--outputs", at("b")});
    EXPECT_EQ(raw.code, ExitCode::Good) << raw.err;
    EXPECT_EQ(read(at("a/y%2Fout.npy")), read(at("b/y%2Fout.npy")));
    EXPECT_EQ(read(at("a/y%2Fout.bin")), read(at("b/y%2Fout.bin")));
    EXPECT_EQ(read(at("a/y%2Fout.bin")).size(), 160U);
}

TEST_F(ModelCommands, RawBytesOfAnEarlierRunDoNotStay) {
    typed({"run", model(false), "--inputs", at("in"), "--outputs", at("out")});
    EXPECT_TRUE(fs::exists(folder_ / "out/y%2Fout.bin"));
    ModelBuilder builder;
    builder.input("x", {1, 8, 5, 4}, onnx::TensorProto_DataType_INT8)
        .node("Transpose", "turned", {"x"}, "y/out")
        .output("y/out");
    std::ofstream(folder_ / "host.onnx", std::ios::binary) << builder.bytes();
    const Answer host =
        typed({"run", at("host.onnx"), "--inputs", at("in"), "--outputs", at("out")});
    EXPECT_THAT(host.out, HasSubstr("is written as y%2Fout.npy only")) << host.err;
    EXPECT_TRUE(fs::exists(folder_ / "out/y%2Fout.npy"));
    EXPECT_FALSE(fs::exists(folder_ / "out/y%2Fout.bin"));
}

TEST_F(ModelCommands, PixelsBeyondInt8AreToldHowToFit) {
    ModelBuilder builder;
    builder.input("x", {1, 8, 5, 4}, onnx::TensorProto_DataType_INT8)
        .node("Identity", "same", {"x"}, "y")
        .output("y");
    std::ofstream(folder_ / "int8.onnx", std::ios::binary) << builder.bytes();
    GraphValue pixels = zeros({ElementType::Uint8, {1, 8, 5, 4}});
    pixels.numbers[3] = 200;
    std::ofstream(folder_ / "in/x.npy", std::ios::binary) << npy_bytes(pixels);
    const Answer answer = typed({"run", at("int8.onnx"), "--inputs", at("in")});
    EXPECT_THAT(answer.err, HasSubstr("holds 200, which int8 cannot represent")) << answer.out;
    EXPECT_THAT(answer.err, HasSubstr("--mean 128"));
}

TEST_F(ModelCommands, FilesOfATableHaveTheSameNamesOnEveryNpu) {
    std::ofstream(folder_ / "t.yaml")
        << "name: t\ninput: {channels: 4, height: 4, width: 5, layout: nhwc}\n"
           "output_layout: nhwc\nlayers:\n  - {name: c, kind: conv, kernels: 8, kernel: 1}\n";
    std::string raw;
    GraphValue map = zeros({ElementType::Int8, {4, 4, 5}});
    for (std::size_t i = 0; i < 80; ++i) {
        raw += static_cast<char>(i);
        map.numbers[i % 4 * 20 + i / 4] = static_cast<double>(i);
    }
    for (const char* name : {"raw", "array"}) {
        fs::create_directories(folder_ / name);
    }
    std::ofstream(folder_ / "raw/input.bin", std::ios::binary) << raw;
    std::ofstream(folder_ / "array/input.npy", std::ios::binary) << npy_bytes(map);
    for (const char* npu : {"nv_small", "tinpu_f28p55"}) {
        for (const char* name : {"raw", "array"}) {
            const Answer answer = typed({"run", at("t.yaml"), "--npu", npu, "--inputs", at(name),
                                         "--outputs", at("out") + npu + name});
            EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
        }
        for (const char* file : {"/c.bin", "/c.npy"}) {
            EXPECT_FALSE(read(at("out") + npu + "raw" + file).empty()) << npu;
            EXPECT_EQ(read(at("out") + npu + "raw" + file), read(at("out") + npu + "array" + file));
        }
        const GraphValue result = read_npy(at("out") + npu + "raw/c.npy");
        const std::string bytes = read(at("out") + npu + "raw/c.bin");
        EXPECT_EQ(static_cast<std::int8_t>(bytes[1]), result.numbers[20]) << npu;
    }
}

TEST_F(ModelCommands, RawBytesOfSeveralInputsFollowEachOther) {
    const std::string path = model(false);
    GraphValue input = read_npy(folder_ / "in/x.npy");
    std::string bytes;
    for (const char* one : {"0", "1"}) {
        fs::create_directories(folder_ / "cases" / one);
        std::ofstream(folder_ / "cases" / one / "x.npy", std::ios::binary) << npy_bytes(input);
        typed({"run", path, "--inputs", at("cases") + "/" + one, "--outputs", at("one")});
        bytes += read(folder_ / "one/y%2Fout.bin");
        std::ranges::reverse(input.numbers);
    }
    const Answer answer = typed({"run", path, "--inputs", at("cases"), "--outputs", at("all")});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_FALSE(bytes.empty());
    EXPECT_EQ(read(folder_ / "all/y%2Fout.bin"), bytes);
}

TEST_F(ModelCommands, APlanOfOneSegmentIsOneProgram) {
    const Answer answer = typed({"plan", model(false), "--out", at("plan"), "--explain"});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_TRUE(fs::exists(folder_ / "plan/program.cfg"));
    EXPECT_TRUE(fs::exists(folder_ / "plan/memory_map.yaml"));
    EXPECT_FALSE(fs::exists(folder_ / "plan/segments.yaml"));
    const ConfigNode map = parse_yaml(read(at("plan/memory_map.yaml")), "memory_map.yaml");
    EXPECT_NE(map.find("images"), nullptr);
    EXPECT_NE(map.find("outputs"), nullptr);
    for (const char* text : {"PWCONV   conv     in_a, 1 operation", "view",
                             "0 on the host; 0 layers", "part of 'b'"}) {
        EXPECT_THAT(answer.out, HasSubstr(text));
    }
}

TEST_F(ModelCommands, APlanSaysTheZeroOfItsInput) {
    typed({"plan", model(false), "--input-type", "uint8", "--out", at("plan")});
    EXPECT_THAT(read(at("plan/memory_map.yaml")),
                HasSubstr("tensor: \"x\", image: input.dat, shape: 1x8x5x4, zero: 128}"));
}

TEST_F(ModelCommands, APlanOfMoreSaysTheirOrder) {
    const Answer answer = typed({"plan", model(true), "--out", at("plan")});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_FALSE(fs::exists(folder_ / "plan/program.cfg"));
    for (const char* name : {"segment_1/program.cfg", "segment_2/memory_map.yaml"}) {
        EXPECT_TRUE(fs::exists(folder_ / "plan" / name)) << name;
    }
    const ConfigNode order = parse_yaml(read(at("plan/segments.yaml")), "segments.yaml");
    const ConfigNode* steps = order.find("steps");
    ASSERT_NE(steps, nullptr);
    EXPECT_EQ(steps->items.size(), 4U);
    EXPECT_THAT(read(at("plan/segments.yaml")),
                HasSubstr("result: in_a, shape: 1x8x5x4, zero: 0}"));
    const Answer first = typed({"run", at("plan/segment_1/program.cfg")});
    EXPECT_EQ(first.code, ExitCode::Good) << first.err;
}

TEST_F(ModelCommands, RefusedLayersAreListedWithTheReason) {
    const std::string golden =
        std::string(NPUSCOPE_SOURCE) + "/tests/golden/onnx/net/three_patterns_min/model.onnx";
    const Answer answer = typed({"plan", golden, "--input-type", "uint8", "--set",
                                 "npu.cbuf.banks=2", "--set", "npu.cbuf.bank_depth=2"});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("' runs on the host\n"));
    EXPECT_THAT(answer.out, Not(HasSubstr("0 layers refused")));
}

TEST_F(ModelCommands, WrongInputsAreNamed) {
    const std::string path = model(false);
    fs::create_directories(folder_ / "none");
    const Answer missing = typed({"run", path, "--inputs", at("none"), "--outputs", at("out")});
    EXPECT_EQ(missing.code, ExitCode::WrongInput);
    EXPECT_THAT(missing.err, HasSubstr("x.npy"));
    std::ofstream(folder_ / "in/x.bin") << "abc";
    EXPECT_THAT(typed({"run", path, "--inputs", at("in"), "--outputs", at("out")}).err,
                HasSubstr("holds both x.bin and x.npy"));
    EXPECT_THAT(typed({"run", path, "--inputs", at("in"), "--values", "off"}).err,
                HasSubstr("leave out --values off"));
    EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(ModelCommands, OfAModelThatSeveralNpusShareOnlyTimingIsSimulated) {
    const std::string note = "only timing is simulated of a model that several NPUs share";
    std::vector<std::string> line{"run", model(false), "--instances", "2", "--split", "rows"};
    const Answer asked = typed(line);
    EXPECT_EQ(asked.code, ExitCode::Good) << asked.err;
    EXPECT_THAT(asked.out, HasSubstr(note));
    line.insert(line.end(), {"--values", "off"});
    EXPECT_THAT(typed(line).out, Not(HasSubstr(note)));
}

/// A float convolution, which no NPU supports, and an operator after it.
std::string float_model(const fs::path& folder, const std::string& after) {
    ModelBuilder builder;
    builder.input("x", {1, 8, 5, 4});
    for (const char* name : {"a", "b"}) {
        builder.floats(std::string(name) + "_w", {8, 8, 1, 1}, std::vector<float>(64, 0.3F));
        builder.node("Conv", name, {builder.last(), std::string(name) + "_w"});
    }
    builder.node(after, "last", {builder.last()}, "y").output("y");
    builder.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(1);
    const fs::path path = folder / "model.onnx";
    std::ofstream(path, std::ios::binary) << builder.bytes();
    return path.string();
}

TEST_F(ModelCommands, ModelsOfTheHostAloneAreNoSuccess) {
    const std::string path = float_model(folder_.path(), "Relu");
    for (const char* npu : {"nv_small", "tinpu_f28p55"}) {
        const Answer run =
            typed({"run", path, "--npu", npu, "--inputs", at("in"), "--json", at("result.json")});
        EXPECT_EQ(run.code, ExitCode::ExpectationFailed);
        EXPECT_THAT(run.out, HasSubstr("HOST ONLY"));
        const std::string result = read(at("result.json"));
        EXPECT_THAT(result, HasSubstr("\"status\": \"host_only\""));
        EXPECT_THAT(result, HasSubstr("none of the model's 2 layers with MACs runs on the NPU; 2"));
        const Answer plan = typed({"plan", path, "--npu", npu});
        EXPECT_EQ(plan.code, ExitCode::ExpectationFailed);
        EXPECT_THAT(plan.out, HasSubstr("[host_only]"));
        for (const std::string& text : {run.out, plan.out}) {
            EXPECT_THAT(text, HasSubstr("2 layers run on the host: 'a', 'b'\n"
                                        "  not_quantised first at "));
            EXPECT_THAT(text, HasSubstr("it is float32, and the model is not quantised"));
            EXPECT_THAT(text, Not(HasSubstr("BNORM")));
        }
    }
}

TEST_F(ModelCommands, PlansOfWhatNothingRunsEndAsTheirRuns) {
    ModelBuilder builder;
    builder.input("x", {1, 8, 5, 4}).node("com.none.Thing", "odd", {"x"}, "y");
    builder.graph().mutable_node(0)->set_op_type("Thing");
    builder.graph().mutable_node(0)->set_domain("com.none");
    builder.output("y");
    auto* type = builder.graph().mutable_output(0)->mutable_type()->mutable_tensor_type();
    type->set_elem_type(1);
    for (const int size : {1, 8, 5, 4}) {
        type->mutable_shape()->add_dim()->set_dim_value(size);
    }
    std::ofstream(folder_ / "model.onnx", std::ios::binary) << builder.bytes();
    for (const char* npu : {"nv_small", "tinpu_f28p55"}) {
        for (const char* command : {"run", "plan"}) {
            const Answer answer = typed({command, at("model.onnx"), "--npu", npu});
            EXPECT_EQ(answer.code, ExitCode::WrongInput) << command << ' ' << npu << answer.err;
        }
    }
}

}  // namespace
}  // namespace npuscope::model_commands_test
