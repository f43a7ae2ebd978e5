// SPDX-License-Identifier: Apache-2.0
// Float models on the command line: by their shapes, on the host, quantised for the run and to a
// file.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/config/file_io.h"
#include "sim/model/onnx_reader.h"
#include "tests/sim/command_line/typed.h"
#include "tests/support/float_model.h"
#include "tests/support/temp_folder.h"

namespace npuscope::float_model_commands_test {
namespace {

namespace fs = std::filesystem;
using sample::Answer;
using test::ModelBuilder;
using ::testing::HasSubstr;
using ::testing::Not;

Answer typed(const std::vector<std::string>& arguments) {
    return sample::typed(arguments,
                         {run_command(), plan_command(), check_command(), quantise_command()});
}

/// Text without its line breaks: messages are wrapped.
std::string flat(const std::string& text) {
    std::string one;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool wrapped = text.compare(i, 5, "\n    ") == 0;
        one += wrapped ? ' ' : text[i];
        i += wrapped ? 4 : 0;
    }
    return one;
}

class FloatModelCommands : public ::testing::Test {
 protected:
    void SetUp() override {
        std::ofstream(folder_ / "m.onnx", std::ios::binary) << test::float_model().bytes();
        for (unsigned i = 0; i < 3; ++i) {
            const fs::path one = folder_ / "inputs" / std::to_string(i);
            fs::create_directories(one);
            std::ofstream(one / "x.npy", std::ios::binary)
                << npy_bytes(test::float_input({1, 3, 8, 8}, i));
        }
    }
    std::string at(const char* name) const { return (folder_ / name).string(); }

    const TempFolder folder_;
};

TEST_F(FloatModelCommands, RunAsIntegersWhereTimeAloneIsAskedFor) {
    for (const char* values : {"on", "off"}) {
        const Answer answer = typed({"run", at("m.onnx"), "--values", values});
        EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
        EXPECT_THAT(flat(answer.out), HasSubstr("simulated as if quantised to int8"));
        EXPECT_THAT(flat(answer.out), HasSubstr("1 segment of the NPU, 0 layers"));
        EXPECT_THAT(answer.out, Not(HasSubstr("not bit-equal")));
    }
}

TEST_F(FloatModelCommands, CalibrationInputsAreNotOverwritten) {
    const std::string before = read_whole_file(folder_ / "inputs/1/x.npy");
    for (const char* option : {"--out", "--json"}) {
        const Answer answer = typed({"quantise", at("m.onnx"), "--calibration", at("inputs"),
                                     option, at("inputs/1/x.npy")});
        EXPECT_EQ(answer.code, ExitCode::WrongInput);
        EXPECT_THAT(answer.err, HasSubstr("x.npy' is also an input"));
    }
    EXPECT_EQ(read_whole_file(folder_ / "inputs/1/x.npy"), before);
}

TEST_F(FloatModelCommands, RunOnTheHostWithInputsAndSayWhatToDo) {
    const Answer answer =
        typed({"run", at("m.onnx"), "--inputs", at("inputs/0"), "--outputs", at("out")});
    EXPECT_EQ(answer.code, ExitCode::ExpectationFailed) << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("HOST ONLY"));
    EXPECT_THAT(
        flat(answer.out),
        HasSubstr("all of it ran on the host (quantise it for this run: --calibration DIR)"));
    EXPECT_EQ(read_npy(folder_ / "out/y.npy").type.element, ElementType::Float32);
}

TEST_F(FloatModelCommands, AreQuantisedOnTheWayAndStayNear) {
    typed({"run", at("m.onnx"), "--inputs", at("inputs/0"), "--outputs", at("host")});
    const Answer answer = typed({"run", at("m.onnx"), "--inputs", at("inputs/0"), "--calibration",
                                 at("inputs"), "--outputs", at("npu"), "--out", at("kept")});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_THAT(flat(answer.out), HasSubstr("quantised to int8 for this run: 3 layers"));
    EXPECT_THAT(answer.out, HasSubstr("MAC array used"));
    const GraphValue wanted = read_npy(folder_ / "host/y.npy");
    const GraphValue found = read_npy(folder_ / "npu/y.npy");
    ASSERT_EQ(found.type, wanted.type);
    for (std::size_t i = 0; i < wanted.numbers.size(); ++i) {
        EXPECT_NEAR(found.numbers[i], wanted.numbers[i], 0.15) << i;
    }
    // the experiment repeats it
    const Answer again = typed({"run", at("kept/config.yaml"), "--outputs", at("again")});
    EXPECT_EQ(again.code, ExitCode::Good) << again.err;
    EXPECT_EQ(read_npy(folder_ / "again/y.npy"), found);
}

TEST_F(FloatModelCommands, QuantiseWritesAModelThatRunsTheSame) {
    const Answer answer = typed({"quantise", at("m.onnx"), "--calibration", at("inputs"), "--out",
                                 at("q.onnx"), "--json", at("q.json"), "--method", "mse"});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_THAT(flat(answer.out), HasSubstr("3 layers quantised to int8"));
    EXPECT_THAT(answer.out, HasSubstr("b_relu"));
    EXPECT_TRUE(fs::exists(folder_ / "q.json"));
    typed({"run", at("q.onnx"), "--inputs", at("inputs/0"), "--outputs", at("a")});
    typed({"run", at("m.onnx"), "--inputs", at("inputs/0"), "--calibration", at("inputs"),
           "--method", "mse", "--outputs", at("b")});
    EXPECT_EQ(read_npy(folder_ / "a/y.npy"), read_npy(folder_ / "b/y.npy"));
}

TEST_F(FloatModelCommands, QuantiseReplacesNoInput) {
    const Answer answer =
        typed({"quantise", at("m.onnx"), "--calibration", at("inputs"), "--out", at("./m.onnx")});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_THAT(answer.err, HasSubstr("m.onnx' is also an input; the output would overwrite it"));
}

TEST_F(FloatModelCommands, AnArrayOfManyInputsIsAsManyCases) {
    std::ofstream(folder_ / "many.npy", std::ios::binary)
        << npy_bytes(test::float_input({5, 3, 8, 8}, 1));
    EXPECT_EQ(typed({"quantise", at("m.onnx"), "--calibration", at("many.npy")}).code,
              ExitCode::Good);
    std::ofstream(folder_ / "wrong.npy", std::ios::binary)
        << npy_bytes(test::float_input({5, 3, 8, 9}, 1));
    const Answer answer = typed({"quantise", at("m.onnx"), "--calibration", at("wrong.npy")});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_THAT(answer.err, HasSubstr("the array is 5x3x8x9, but the model takes 1x3x8x8"));
}

TEST_F(FloatModelCommands, WrongCalibrationsAreNamedAndNothingIsWritten) {
    fs::create_directories(folder_ / "empty");
    for (const auto& [calibration, sentence] :
         {std::pair{"none", "there is no"}, std::pair{"empty", "holds no inputs"}}) {
        const Answer answer = typed(
            {"quantise", at("m.onnx"), "--calibration", at(calibration), "--out", at("q.onnx")});
        EXPECT_EQ(answer.code, ExitCode::WrongInput);
        EXPECT_THAT(answer.err, HasSubstr(sentence));
    }
    EXPECT_FALSE(fs::exists(folder_ / "q.onnx"));
    EXPECT_EQ(typed({"quantise", at("m.onnx")}).code, ExitCode::WrongInput);
    const Answer sums =
        typed({"quantise", at("m.onnx"), "--calibration", at("inputs"), "--sums", "twice"});
    EXPECT_THAT(sums.err, HasSubstr("unknown option '--sums'"));  // it depends on the NPU
}

TEST_F(FloatModelCommands, ChecksAndPlansTakeThemToo) {
    const Answer checked = typed({"check", at("m.onnx")});
    EXPECT_EQ(checked.code, ExitCode::Good) << checked.err;
    EXPECT_THAT(checked.out, HasSubstr("[by_shape]"));
    const Answer planned =
        typed({"plan", at("m.onnx"), "--calibration", at("inputs"), "--out", at("plan")});
    EXPECT_EQ(planned.code, ExitCode::Good) << planned.err;
    EXPECT_TRUE(fs::exists(folder_ / "plan/segments.yaml"));
}

TEST_F(FloatModelCommands, NodesThatNobodyKnowsAreNamedAndNotCounted) {
    ModelBuilder builder = test::float_model();
    builder.graph().clear_output();
    builder.node("TfIdfVectorizer", "boxes", {"y"}).output(builder.last());
    std::ofstream(folder_ / "boxes.onnx", std::ios::binary) << builder.bytes();
    const Answer answer = typed({"run", at("boxes.onnx"), "--values", "off"});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_THAT(flat(answer.out), HasSubstr("the time of 1 node on the host is not counted"));
    EXPECT_THAT(flat(answer.out), HasSubstr("'boxes' (TfIdfVectorizer)"));
    const Answer refused = typed({"run", at("boxes.onnx")});
    EXPECT_EQ(refused.code, ExitCode::WrongInput);
    // with sizes that the model states it is a layer of the table
    auto* info = builder.graph().mutable_output(0);
    info->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto_DataType_INT64);
    auto* shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->add_dim()->set_dim_value(7);
    shape->add_dim()->set_dim_value(3);
    std::ofstream(folder_ / "boxes.onnx", std::ios::binary) << builder.bytes();
    EXPECT_THAT(typed({"run", at("boxes.onnx"), "--values", "off"}).out,
                HasSubstr("not counted\n"));
}

TEST_F(FloatModelCommands, AModelOfWhichNothingCanBeTimedIsRefused) {
    ModelBuilder builder;
    builder.input("x", {1, 4}).node("TfIdfVectorizer", "boxes", {"x"}, "y").output("y");
    auto* type = builder.graph().mutable_output(0)->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto_DataType_FLOAT);
    type->mutable_shape()->add_dim()->set_dim_value(7);
    std::ofstream(folder_ / "boxes.onnx", std::ios::binary) << builder.bytes();
    const Answer answer = typed({"run", at("boxes.onnx"), "--values", "off"});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_THAT(answer.err, HasSubstr("none of its nodes can be timed: neither the NPU nor the "
                                      "host implements 'boxes' (TfIdfVectorizer)"));
}

TEST_F(FloatModelCommands, DynamicSizesAreThoseOfTheInputsOrTheCalibration) {
    ModelBuilder builder = test::float_model();
    auto* shape =
        builder.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->mutable_dim(0)->set_dim_param("batch");
    shape->mutable_dim(2)->set_dim_param("height");
    shape->mutable_dim(3)->set_dim_param("width");
    std::ofstream(folder_ / "open.onnx", std::ios::binary) << builder.bytes();
    const std::string host = at("inputs/0");
    EXPECT_THAT(typed({"run", at("open.onnx"), "--inputs", host}).out, HasSubstr("HOST ONLY"));
    const Answer quantised = typed({"quantise", at("open.onnx"), "--calibration", at("inputs")});
    EXPECT_EQ(quantised.code, ExitCode::Good) << quantised.err;
    const Answer answer =
        typed({"run", at("open.onnx"), "--calibration", at("inputs"), "--inputs", host});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_THAT(flat(answer.out), HasSubstr("'height' is dynamic and taken as 8"));
    EXPECT_THAT(typed({"run", at("open.onnx")}).err, HasSubstr("its size 'batch' is dynamic"));
}

TEST_F(FloatModelCommands, SeveralInputsRunOneAfterTheOther) {
    std::ofstream(folder_ / "many.npy", std::ios::binary)
        << npy_bytes(test::float_input({4, 3, 8, 8}, 1));
    const Answer answer =
        typed({"run", at("m.onnx"), "--inputs", at("many.npy"), "--calibration", at("many.npy"),
               "--outputs", at("out"), "--batch", "3", "--json", at("r.json")});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("3 inputs one after the other"));
    const GraphValue all = read_npy(folder_ / "out/y.npy");
    EXPECT_EQ(all.type.sizes, (Sizes{3, 5}));
    // the last one by itself
    GraphValue last = test::float_input({4, 3, 8, 8}, 1);
    last.type.sizes[0] = 1;
    last.numbers = {last.numbers.begin() + 384, last.numbers.begin() + 576};
    std::ofstream(folder_ / "last.npy", std::ios::binary) << npy_bytes(last);
    typed({"run", at("m.onnx"), "--inputs", at("last.npy"), "--calibration", at("many.npy"),
           "--outputs", at("one")});
    const GraphValue one = read_npy(folder_ / "one/y.npy");
    EXPECT_EQ(one.numbers,
              (std::vector<double>{all.numbers.begin() + 10, all.numbers.begin() + 15}));
    const std::string json = [&] {
        std::ostringstream text;
        text << std::ifstream(folder_ / "r.json").rdbuf();
        return text.str();
    }();
    EXPECT_THAT(json, HasSubstr("\"batch\": {"));
    EXPECT_THAT(json, HasSubstr("\"inputs\": 3"));
}

TEST_F(FloatModelCommands, SeveralInputsAtOnceGiveWhatEachGivesAlone) {
    std::ofstream(folder_ / "many.npy", std::ios::binary)
        << npy_bytes(test::float_input({5, 3, 8, 8}, 1));
    const auto run = [&](const std::string& out, const std::vector<std::string>& more) {
        std::vector<std::string> words{
            "run",       at("m.onnx"),    "--npu",         "nv_full",
            "--inputs",  at("many.npy"),  "--calibration", at("many.npy"),
            "--outputs", at(out.c_str()), "--json",        at((out + ".json").c_str())};
        words.insert(words.end(), more.begin(), more.end());
        return typed(words);
    };
    const Answer alone = run("alone", {});
    EXPECT_EQ(alone.code, ExitCode::Good) << alone.err;
    const Answer together = run("together", {"--batch", "5"});
    EXPECT_EQ(together.code, ExitCode::Good) << together.err;
    EXPECT_THAT(flat(together.out), HasSubstr("5 inputs, 5 at once, sharing operations of"));
    EXPECT_EQ(read_npy(folder_ / "together/y.npy"), read_npy(folder_ / "alone/y.npy"));
    const auto batch_of = [&](const char* file) {
        return nlohmann::json::parse(std::ifstream(folder_ / file)).at("batch");
    };
    EXPECT_EQ(batch_of("together.json").at("at_once"), 5);
    EXPECT_EQ(batch_of("together.json").at("inputs"), 5);
    EXPECT_LT(batch_of("together.json").at("cycles"), batch_of("alone.json").at("cycles"));
    EXPECT_FALSE(batch_of("alone.json").contains("at_once"));
}

TEST_F(FloatModelCommands, SeveralInputsAreSimulatedForTheirTimeWithoutNumbers) {
    const Answer together =
        typed({"run", at("m.onnx"), "--npu", "nv_full", "--values", "off", "--batch", "40"});
    EXPECT_EQ(together.code, ExitCode::Good) << together.err;
    EXPECT_THAT(flat(together.out), HasSubstr("40 inputs, 32 at once"));
    const Answer refused = typed({"run", at("m.onnx"), "--values", "off", "--batch", "4"});
    EXPECT_EQ(refused.code, ExitCode::WrongInput);
    EXPECT_THAT(refused.err, HasSubstr("there are no inputs"));
}

TEST_F(FloatModelCommands, InputsOnSeveralCoresGiveTheSame) {
    std::ofstream(folder_ / "many.npy", std::ios::binary)
        << npy_bytes(test::float_input({5, 3, 8, 8}, 1));
    std::ofstream(folder_ / "labels.txt") << "ant\nbee\ncat\ndog\nemu\n";
    const auto run = [&](const char* threads, const char* out) {
        return typed({"run", at("m.onnx"), "--inputs", at("many.npy"), "--calibration",
                      at("many.npy"), "--labels", at("labels.txt"), "--threads", threads,
                      "--outputs", at(out)});
    };
    const Answer alone = run("1", "alone");
    EXPECT_EQ(alone.code, ExitCode::Good) << alone.err;
    const Answer beside = run("3", "beside");
    const auto told = [](const Answer& answer) {
        return answer.out.substr(0, answer.out.find("\nsimulated "));  // and how long it took
    };
    EXPECT_EQ(told(beside), told(alone));
    EXPECT_EQ(beside.code, ExitCode::Good) << beside.err;
    EXPECT_EQ(read_npy(folder_ / "beside/y.npy"), read_npy(folder_ / "alone/y.npy"));
    EXPECT_THAT(run("0", "none").err, HasSubstr("--threads"));
}

TEST_F(FloatModelCommands, AnInputThatStopsTheRunIsToldOf) {
    std::ofstream(folder_ / "many.npy", std::ios::binary)
        << npy_bytes(test::float_input({4, 3, 8, 8}, 1));
    const auto run = [&](const char* threads) {
        return typed({"run", at("m.onnx"), "--inputs", at("many.npy"), "--calibration",
                      at("many.npy"), "--threads", threads, "--outputs", at("out"), "--max-cycles",
                      "100"});
    };
    const Answer alone = run("1");
    const Answer beside = run("2");
    EXPECT_NE(alone.code, ExitCode::Good);
    EXPECT_EQ(beside.code, alone.code);
    EXPECT_EQ(beside.err, alone.err);
}

TEST_F(FloatModelCommands, LabelsNameTheBestOfAnOutput) {
    std::ofstream(folder_ / "labels.txt") << "ant\nbee\r\ncat\ndog\nemu\n\n";
    typed({"run", at("m.onnx"), "--inputs", at("inputs/0"), "--outputs", at("out")});
    const GraphValue scores = read_npy(folder_ / "out/y.npy");
    const auto best = std::ranges::max_element(scores.numbers) - scores.numbers.begin();
    const Answer answer = typed({"run", at("m.onnx"), "--inputs", at("inputs/0"), "--labels",
                                 at("labels.txt"), "--json", at("r.json")});
    EXPECT_THAT(answer.out, HasSubstr("predicted classes"));
    const std::array<const char*, 5> names{"ant", "bee", "cat", "dog", "emu"};
    const std::string table = answer.out.substr(answer.out.find("predicted classes"));
    const std::size_t first = table.find(names.at(static_cast<std::size_t>(best)));
    for (const char* name : names) {
        EXPECT_GE(table.find(name), first) << name;
        EXPECT_NE(table.find(name), std::string::npos) << name;
    }
    std::ofstream(folder_ / "few.txt") << "ant\nbee\n";
    const Answer few =
        typed({"run", at("m.onnx"), "--inputs", at("inputs/0"), "--labels", at("few.txt")});
    EXPECT_EQ(few.code, ExitCode::WrongInput);
    EXPECT_THAT(few.err, HasSubstr("few.txt: the file has 2 labels, but the model gives 'y' 1x5"));
    EXPECT_THAT(typed({"run", at("m.onnx"), "--labels", at("labels.txt")}).err,
                HasSubstr("there are no inputs to compute outputs from"));
    EXPECT_THAT(typed({"run", "lenet", "--labels", at("labels.txt")}).err,
                HasSubstr("--labels: no effect on"));
    std::ofstream(folder_ / "none.txt") << "\n\n";
    EXPECT_THAT(
        typed({"run", at("m.onnx"), "--inputs", at("inputs/0"), "--labels", at("none.txt")}).err,
        HasSubstr("the file has no class names"));
}

TEST_F(FloatModelCommands, PicturesAreInputs) {
    ModelBuilder builder;
    builder.input("x", {1, 1, 4, 4}).floats("w", {2, 1, 4, 4}, test::some_fractions(32, 1, 2));
    builder.node("Conv", "conv", {"x", "w"}, "y").output("y");
    std::ofstream(folder_ / "p.onnx", std::ios::binary) << builder.bytes();
    std::ofstream(folder_ / "p.pgm", std::ios::binary) << "P5 4 4 255\nabcdefghijklmnop";
    GraphValue array = zeros({ElementType::Float32, {1, 1, 4, 4}});
    for (std::size_t i = 0; i < 16; ++i) {
        array.numbers[i] = (static_cast<double>('a' + i) - 100) * 0.25;
    }
    std::ofstream(folder_ / "p.npy", std::ios::binary) << npy_bytes(array);
    const Answer pixels = typed({"run", at("p.onnx"), "--inputs", at("p.pgm"), "--mean", "100",
                                 "--scale", "1/4", "--outputs", at("a")});
    EXPECT_EQ(pixels.code, ExitCode::ExpectationFailed) << pixels.err;  // host only
    const Answer numbers =
        typed({"run", at("p.onnx"), "--inputs", at("p.npy"), "--outputs", at("b")});
    EXPECT_EQ(numbers.code, ExitCode::ExpectationFailed) << numbers.err;
    EXPECT_THAT(
        typed({"run", at("p.onnx"), "--inputs", at("p.npy"), "--mean", "100", "--order", "bgr"})
            .err,
        HasSubstr("--mean, --order: no effect on the inputs, which are arrays"));
    EXPECT_EQ(read_npy(folder_ / "a/y.npy"), read_npy(folder_ / "b/y.npy"));
    for (const std::vector<std::string>& inputs :
         {std::vector<std::string>{"quantise", at("p.onnx")},
          {"run", at("p.onnx"), "--npu", "nv_full", "--inputs", at("p.npy")}}) {
        std::vector<std::string> arguments = inputs;
        arguments.insert(arguments.end(), {"--calibration", at("p.npy"), "--scale", "1/4"});
        EXPECT_THAT(typed(arguments).err, HasSubstr("--scale: no effect on the inputs"));
        arguments[arguments.size() - 3] = at("p.pgm");
        EXPECT_EQ(typed(arguments).code, ExitCode::Good);
    }
    const Answer wrong = typed({"run", at("m.onnx"), "--inputs", at("p.pgm")});
    EXPECT_EQ(wrong.code, ExitCode::WrongInput);
    EXPECT_THAT(wrong.err, HasSubstr("p.pgm: the picture has 4 rows, 4 columns"));
}

TEST_F(FloatModelCommands, OpenSizesAreGivenByAnOptionOrAKey) {
    ModelBuilder builder = test::float_model();
    auto* shape = builder.graph().mutable_input(0)->mutable_type()->mutable_tensor_type();
    shape->mutable_shape()->mutable_dim(0)->set_dim_param("batch");
    std::ofstream(folder_ / "batch.onnx", std::ios::binary) << builder.bytes();
    const Answer one = typed({"run", at("batch.onnx"), "--values", "off"});
    EXPECT_EQ(one.code, ExitCode::Good);
    EXPECT_THAT(flat(one.out), HasSubstr("'batch' is dynamic and taken as 1"));
    shape->mutable_shape()->mutable_dim(2)->set_dim_param("height");
    std::ofstream(folder_ / "open.onnx", std::ios::binary) << builder.bytes();
    const Answer refused = typed({"run", at("open.onnx"), "--values", "off"});
    EXPECT_EQ(refused.code, ExitCode::WrongInput);
    EXPECT_THAT(refused.err, HasSubstr("--shape batch=.."));
    EXPECT_EQ(typed({"run", at("open.onnx"), "--values", "off", "--shape", "batch=1", "--shape",
                     "height=8"})
                  .code,
              ExitCode::Good);
    std::ofstream(folder_ / "e.yaml")
        << "program: open.onnx\nmodel: {shape: [1x3x8x8]}\nrun: {values: off}\n";
    EXPECT_EQ(typed({"run", at("e.yaml")}).code, ExitCode::Good);
}

TEST_F(FloatModelCommands, TimeAloneIsThatOfTheTypeAskedFor) {
    const auto cycles = [&](const char* type) {
        const Answer answer =
            typed({"run", at("m.onnx"), "--npu", "nv_full", "--values", "off", "--type", type});
        EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
        EXPECT_THAT(flat(answer.out), HasSubstr(std::string("as if quantised to ") + type));
        return answer.out.substr(0, answer.out.find(" cycles")).substr(answer.out.find('\n'));
    };
    EXPECT_NE(cycles("int8"), cycles("int16"));
    EXPECT_NE(cycles("int8"), cycles("fp16"));
}

TEST_F(FloatModelCommands, LayersThatStayFloatsForATargetAreNamedWithTheRatios) {
    const Answer answer = typed({"run", at("m.onnx"), "--npu", "nv_small", "--calibration",
                                 at("inputs"), "--target-decibels", "45"});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_THAT(flat(answer.out), HasSubstr("the worst calibration input had"));
    EXPECT_THAT(flat(answer.out), HasSubstr("left in float on the host"));
    EXPECT_THAT(flat(typed({"run", at("m.onnx"), "--npu", "nv_small", "--calibration", at("inputs"),
                            "--target-decibels", "0"})
                         .out),
                ::testing::Not(HasSubstr("left in float")));
    const Answer json = typed({"quantise", at("m.onnx"), "--calibration", at("inputs"),
                               "--target-decibels", "45", "--json", "-"});
    EXPECT_THAT(json.out, HasSubstr("\"left_in_float\": [\n    {\"layer\": "));
    EXPECT_THAT(json.out, HasSubstr("\"decibels_before_target\": "));
    for (const char* wrong : {"201", "-1", "much"}) {
        EXPECT_EQ(typed({"quantise", at("m.onnx"), "--calibration", at("inputs"),
                         "--target-decibels", wrong})
                      .code,
                  ExitCode::WrongInput);
    }
}

TEST_F(FloatModelCommands, ATargetIsThatOfTheNpuWhichRoundsScalesOnceMore) {
    const std::vector<std::string> arguments{
        "run",   at("m.onnx"),   "--calibration",    at("inputs"),
        "--npu", "tinpu_f28p55", "--target-decibels"};
    const auto told = [&](const char* target) {
        std::vector<std::string> all = arguments;
        all.emplace_back(target);
        const Answer answer = typed(all);
        EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
        return flat(answer.out);
    };
    EXPECT_THAT(told("44"),
                HasSubstr("the NPU rounds scales once more; on it the worst input has"));
    EXPECT_THAT(told("25"), Not(HasSubstr("rounds scales once more")));
    EXPECT_THAT(told("0"), Not(HasSubstr("rounds scales once more")));
}

TEST_F(FloatModelCommands, OptionsWithoutEffectAreRefused) {
    const auto refused = [&](std::vector<std::string> arguments, const char* sentence) {
        const Answer answer = typed(arguments);
        EXPECT_EQ(answer.code, ExitCode::WrongInput);
        EXPECT_THAT(answer.err, HasSubstr(sentence));
    };
    refused({"run", "lenet", "--type", "fp16", "--mean", "3"}, "--type, --mean: no effect on");
    refused({"plan", "lenet", "--input-type", "uint8"}, "which is a shape table");
    refused({"check", "lenet", "--no-equalise"}, "--no-equalise: no effect on");
    refused({"check", "lenet", "--target-decibels", "30"}, "--target-decibels: no effect on");
    refused({"run", "three_layers", "--winograd"}, "which is a register program");
    refused({"run", "three_layers", "--network", "lenet"}, "give --compare-layers with it");
    refused({"run", "lenet", "--compare-layers", "--network", "resnet18"},
            "which is a network itself");
    refused({"run", "lenet", "--npu", "tinpu_f28p55", "--winograd"},
            "--winograd: no effect on tinpu_f28p55, which runs no register programs");
    refused({"plan", "lenet", "--npu", "tinpu_f28p55", "--compress", "never"},
            "--compress: no effect on");
    refused({"check", "lenet", "--npu", "tinpu_f28p55", "--no-pixels"},
            "--no-pixels: no effect on");
    refused({"plan", "lenet", "--loadable", at("lenet.txt")}, "a name that ends in .fbuf");
    refused({"run", at("m.onnx"), "--mean", "5", "--values", "off"},
            "--mean: no effect, because no inputs are read");
    refused({"run", at("m.onnx"), "--inputs", at("inputs/0"), "--batch", "5"},
            "--batch 5: 1 input is given (give more, or leave out --batch)");
    refused({"run", at("m.onnx"), "--method", "mse"}, "the model is not calibrated");
    refused({"run", at("m.onnx"), "--inputs", at("inputs/0"), "--type", "fp16"},
            "--type fp16: a float model that is not quantised");
}

}  // namespace
}  // namespace npuscope::float_model_commands_test
