// SPDX-License-Identifier: Apache-2.0
// ONNX models on the command line.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "sim/config/file_io.h"
#include "sim/config/preset.h"
#include "sim/model/graph.h"
#include "tests/sim/command_line/typed.h"
#include "tests/support/sample_models.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;
using sample::Answer;
using ::testing::HasSubstr;

Answer typed(const std::vector<std::string>& arguments) {
    return sample::typed(arguments,
                         {run_command(), plan_command(), list_command(), check_command()});
}

fs::path golden(const std::string& model) {
    return fs::path(NPUSCOPE_SOURCE) / "tests/golden/onnx" / model;
}

TEST(LayerCommands, RunsWriteTheGoldenOutput) {
    const fs::path model = golden("net/three_patterns_min");
    const TempFolder folder;
    fs::create_directories(folder / "in");
    fs::copy_file(model / "input_0.npy", folder / "in/input.npy");
    const Answer answer =
        typed({"run", (model / "model.onnx").string(), "--npu", "tinpu_f28p55", "--inputs",
               (folder / "in").string(), "--outputs", (folder / "out").string(), "--json", "-"});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_EQ(read_npy(folder / "out/output.npy"), read_npy(model / "output_0.npy"));
    for (const char* text : {"\"FCONV\"", "\"MAXPOOL\"", "\"PWCONV\"", "\"share\": 0.0"}) {
        EXPECT_THAT(answer.out, HasSubstr(text));
    }
}

TEST(LayerCommands, PlansExplainWhereNodesRun) {
    const Answer answer = typed({"plan", (golden("reject/preclip_8bit") / "model.onnx").string(),
                                 "--npu", "tinpu_f28p55", "--explain"});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_THAT(answer.out, HasSubstr("preclip_range at node 'preclip' (Clip)"));
    EXPECT_THAT(answer.out, HasSubstr("without"));
}

TEST(LayerCommands, WrittenJobsTakeTheTimeOfTheirModel) {
    const std::string model = (golden("net/three_patterns_min") / "model.onnx").string();
    const TempFolder folder;
    const std::string out = (folder / "planned").string();
    const Answer planned = typed({"plan", model, "--npu", "tinpu_f28p55", "--out", out});
    ASSERT_EQ(planned.code, ExitCode::Good) << planned.err;
    const auto cycles = [](const std::string& program) {
        const Answer answer = typed({"run", program, "--npu", "tinpu_f28p55", "--json", "-"});
        EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
        const std::size_t at = answer.out.find("\"cycles\":");
        return answer.out.substr(at, answer.out.find(',', at) - at);
    };
    EXPECT_EQ(cycles(out), cycles(model));
    const Answer checked = typed({"check", out, "--npu", "tinpu_f28p55"});
    EXPECT_EQ(checked.code, ExitCode::Good) << checked.out << checked.err;
    EXPECT_THAT(checked.out, HasSubstr(" operations, "));
    const Answer map = typed({"check", out + "/memory_map.yaml"});
    EXPECT_EQ(map.code, ExitCode::Good) << map.out << map.err;
    EXPECT_EQ(typed({"run", out, "--npu", "nv_small"}).code, ExitCode::WrongInput);
    const Answer outside =
        typed({"check", out, "--npu", "tinpu_f28p55", "--set", "memory.regions[0].size=64"});
    EXPECT_THAT(outside.out, HasSubstr("out_of_bounds"));
}

TEST(LayerCommands, JobsAreProvedAgainstPlainOperatorsAndTheirModel) {
    const std::string model = (golden("net/three_patterns_min") / "model.onnx").string();
    const TempFolder folder;
    const std::string out = (folder / "planned").string();
    ASSERT_EQ(typed({"plan", model, "--npu", "tinpu_f28p55", "--out", out}).code, ExitCode::Good);
    const std::string arrays = (folder / "arrays").string();
    const Answer proved = typed(
        {"check", out, "--npu", "tinpu_f28p55", "--prove", "--out", arrays, "--model", model});
    EXPECT_EQ(proved.code, ExitCode::Good) << proved.out << proved.err;
    EXPECT_THAT(proved.out, HasSubstr("3 proved, 0 not proved, 0 differ"));
    EXPECT_THAT(proved.out, HasSubstr(" -> maximum of "));
    EXPECT_THAT(proved.out, HasSubstr("layer p02_pwconv/conv: equal"));
    EXPECT_TRUE(fs::exists(fs::path(arrays) / "p00_fconv%2Fconv_weights.npy"));

    // clipped at 3: the machine does as the program says, and no layer of the model does
    std::string text = read_whole_file(out + "/program.cfg");
    const std::size_t clip = text.find("0xff0000");
    ASSERT_NE(clip, std::string::npos);
    write_atomically(out + "/program.cfg", text.replace(clip, 8, "0x30000"));
    const Answer cut = typed({"check", out, "--npu", "tinpu_f28p55", "--prove", "--model", model});
    EXPECT_EQ(cut.code, ExitCode::ExpectationFailed) << cut.out << cut.err;
    EXPECT_THAT(cut.out, HasSubstr("3 proved, 0 not proved, 0 differ"));
    EXPECT_THAT(cut.out, HasSubstr("[layer_differs]"));

    const Answer onnx = typed({"check", model, "--npu", "tinpu_f28p55", "--prove"});
    EXPECT_EQ(onnx.code, ExitCode::WrongInput);
    EXPECT_THAT(onnx.err, HasSubstr("is not a program"));
}

TEST(LayerCommands, PlannedMapsOfTheHostHaveTheSignOfTheirType) {
    const TempFolder folder;
    const std::string model = (folder / "model.onnx").string();
    const auto expect_sign = [&](const test::ModelBuilder& builder, const std::string& map,
                                 const std::vector<std::string>& more) {
        write_atomically(model, builder.bytes());
        const std::string out = (folder / "planned").string();
        std::vector<std::string> arguments{"plan", model,   "--npu", "tinpu_f28p55",
                                           "--out", out};
        arguments.insert(arguments.end(), more.begin(), more.end());
        ASSERT_EQ(typed(arguments).code, ExitCode::Good);
        EXPECT_THAT(read_whole_file(out + "/program.cfg"), HasSubstr("// surface " + map));
        const Answer proved =
            typed({"check", out, "--npu", "tinpu_f28p55", "--prove", "--model", model});
        EXPECT_EQ(proved.code, ExitCode::Good) << proved.out << proved.err;
        EXPECT_THAT(proved.out, HasSubstr(": equal"));
    };
    test::ModelBuilder quantised;
    quantised.input("x", {1, 4, 6, 6}).floats("scale", {}, {0.0078125F}).int8s("zero", {}, {0});
    quantised.node("QuantizeLinear", "q", {"x", "scale", "zero"});
    quantised.node("MaxPool", "pool", {"q_y"}, "y").ints("kernel_shape", {2, 2}).output("y");
    expect_sign(quantised, "q_y = 0x50000000:1x4x6x6:int8", {});

    test::ModelBuilder typed_input;
    typed_input.input("x", {1, 4, 6, 6}, onnx::TensorProto_DataType_INT8);
    typed_input.node("MaxPool", "pool", {"x"}, "y").ints("kernel_shape", {2, 2}).output("y");
    expect_sign(typed_input, "x = 0x50000000:1x4x6x6:int8", {});

    const test::ModelBuilder of_floats = test::conv_model({}, {});
    expect_sign(of_floats, "x = 0x500000f0:1x4x6x5:int8", {});
    expect_sign(of_floats, "x = 0x500000f0:1x4x6x5:uint8", {"--input-type", "uint8"});
}

TEST(LayerCommands, ChangesReachTheEngine) {
    const std::string model = (golden("net/three_patterns_min") / "model.onnx").string();
    const Answer plain = typed({"run", model, "--npu", "tinpu_f28p55"});
    const Answer slow =
        typed({"run", model, "--npu", "tinpu_f28p55", "--set", "npu.engine.layer_overhead=100000"});
    EXPECT_EQ(slow.code, ExitCode::Good) << slow.err;
    EXPECT_NE(plain.out, slow.out);
    EXPECT_EQ(typed({"run", model, "--npu", "tinpu_f28p55", "--set", "npu.engine.lanes=1"}).code,
              ExitCode::WrongInput);
}

TEST(LayerCommands, MemoryAndLimitsReachTheMachine) {
    const std::string model = (golden("net/three_patterns_min") / "model.onnx").string();
    const auto run = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"run", model, "--npu", "tinpu_f28p55"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        Answer answer = typed(arguments);
        answer.out.erase(std::min(answer.out.find("\nsimulated"), answer.out.size()));  // how long
        return answer;
    };
    const Answer plain = run({});
    EXPECT_NE(run({"--memory", "dram_200"}).out, plain.out);
    EXPECT_NE(run({"--set", "memory.read_latency=100"}).out, plain.out);
    EXPECT_EQ(run({"--memory", "f28p55"}).out, plain.out);
    EXPECT_EQ(run({"--max-cycles", "100"}).code, ExitCode::MachineStopped);
    for (const char* change :
         {"npu.mcif.bus_width=0", "npu.engine.output_lanes=0", "npu.engine.alignment=0"}) {
        EXPECT_EQ(run({"--set", change}).code, ExitCode::WrongInput) << change;
        EXPECT_EQ(typed({"plan", model, "--npu", "tinpu_f28p55", "--set", change}).code,
                  ExitCode::WrongInput)
            << change;
    }
}

TEST(LayerCommands, WrongInputIsRefusedWithWhatToDo) {
    const std::string model = (golden("net/three_patterns_min") / "model.onnx").string();
    const std::string broken = (golden("malformed/strides_zero") / "model.onnx").string();
    const std::vector<std::pair<std::vector<std::string>, const char*>> rows{
        {{"run", broken, "--npu", "tinpu_f28p55"}, "'strides'"},
        {{"run", model, "--npu", "nv_small", "--outputs", "out"}, "--inputs DIR"},
        {{"run", broken, "--npu", "nv_small"}, "'strides'"},
        {{"run", model, "--npu", "tinpu_f28p55", "--outputs", "out"}, "--inputs DIR"},
        {{"run", NPUSCOPE_SOURCE "/configs/experiment/three_layers/program.cfg", "--npu",
          "tinpu_f28p55"},
         ".onnx"},
        {{"run", "none.onnx", "--npu", "tinpu_f28p55"}, "none.onnx"}};
    for (const auto& [arguments, message] : rows) {
        const Answer answer = typed(arguments);
        EXPECT_EQ(answer.code, ExitCode::WrongInput);
        EXPECT_THAT(answer.err, HasSubstr(message));
    }
}

TEST(LayerCommands, ChecksSayWhatRunsOnTheHostAndWhy) {
    const std::string model = (golden("reject/preclip_8bit") / "model.onnx").string();
    const Answer layers = typed({"check", model, "--npu", "tinpu_f28p55"});
    EXPECT_EQ(layers.code, ExitCode::Good) << layers.err;
    EXPECT_THAT(layers.out, HasSubstr("preclip_range"));
    const Answer registers = typed({"check", model, "--npu", "nv_small"});
    EXPECT_EQ(registers.code, ExitCode::Good) << registers.err;
    EXPECT_EQ(typed({"check", "program.cfg", "--npu", "tinpu_f28p55"}).code, ExitCode::WrongInput);
}

TEST(LayerCommands, PatternsAreListed) {
    EXPECT_THAT(typed({"list", "patterns"}).out, HasSubstr("PWCONVRES"));
    EXPECT_THAT(typed({"list", "patterns", "MAX"}).out, HasSubstr("MaxPool"));
}

}  // namespace
}  // namespace npuscope
