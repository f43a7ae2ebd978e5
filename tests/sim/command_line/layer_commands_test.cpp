// SPDX-License-Identifier: Apache-2.0
// ONNX models on the command line.
#include <fmt/format.h>
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "sim/config/file_io.h"
#include "sim/config/preset.h"
#include "sim/model/graph.h"
#include "tests/sim/command_line/typed.h"
#include "tests/sim/run/quantised_model.h"
#include "tests/support/sample_models.h"
#include "tests/support/temp_folder.h"

namespace npuscope::layer_commands_test {
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

/// Of a shape table: as an array and as raw bytes, which hold the same numbers.
TEST(LayerCommands, RawBytesOfTablesAreTheirNumbers) {
    const TempFolder folder;
    for (const ElementType type : {ElementType::Int8, ElementType::Uint8}) {
        const std::string table = (folder / "table.yaml").string();
        write_atomically(table,
                         fmt::format("name: one\n"
                                     "input: {{channels: 4, height: 2, width: 2, type: {}}}\n"
                                     "layers:\n"
                                     "  - {{name: p, kind: max_pool, kernel: 1, stride: 1}}\n",
                                     enum_name(type)));
        GraphValue value = zeros({type, {1, 4, 2, 2}});
        for (std::size_t i = 0; i < value.numbers.size(); ++i) {
            value.numbers[i] = range_of(type).low + 17.0 * static_cast<double>(i);
        }
        std::string bytes;
        append_elements(type, value.numbers, bytes);
        for (const auto& [name, contents] :
             {std::pair{"input.npy", npy_bytes(value)}, std::pair{"input.bin", bytes}}) {
            const fs::path in = folder / fmt::format("{}_{}", name, enum_name(type));
            const fs::path out = folder / "out";
            fs::create_directories(in);
            write_atomically(in / name, contents);
            const Answer answer = typed({"run", table, "--npu", "tinpu_f28p55", "--inputs",
                                         in.string(), "--outputs", out.string()});
            EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
            EXPECT_EQ(read_npy(out / "p.npy"), value) << name;
        }
    }
}

/// The array of an fc has two extents.
TEST(LayerCommands, WrittenArraysAreGoldenOnes) {
    const TempFolder folder;
    const std::string table = (folder / "table.yaml").string();
    write_atomically(table,
                     "name: one\n"
                     "input: {channels: 4, height: 2, width: 2}\n"
                     "layers:\n"
                     "  - {name: f, kind: fc, kernels: 8}\n");
    GraphValue value = zeros({ElementType::Int8, {1, 4, 2, 2}});
    std::fill(value.numbers.begin(), value.numbers.end(), 7);
    write_atomically(folder / "in.npy", npy_bytes(value));
    const std::vector<std::string> run{"run",          table,      "--npu",
                                       "tinpu_f28p55", "--inputs", (folder / "in.npy").string()};
    std::vector<std::string> line = run;
    line.insert(line.end(), {"--outputs", (folder / "out").string()});
    ASSERT_EQ(typed(line).code, ExitCode::Good);
    EXPECT_EQ(read_npy(folder / "out/f.npy").type.sizes, (Sizes{1, 8}));
    line = run;
    line.insert(line.end(), {"--golden", "f=" + (folder / "out/f.npy").string()});
    const Answer answer = typed(line);
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
}

/// A file named after the only input may hold several cases.
TEST(LayerCommands, SeveralCasesMayHaveTheNameOfTheInput) {
    const TempFolder folder;
    write_atomically(folder / "model.onnx", test::max_pool_model(2, 2).bytes());
    std::filesystem::create_directory(folder / "in");
    write_atomically(folder / "in/x.npy", npy_bytes(zeros({ElementType::Int8, {3, 4, 6, 6}})));
    const Answer answer =
        typed({"run", (folder / "model.onnx").string(), "--npu", "tinpu_f28p55", "--inputs",
               (folder / "in").string(), "--outputs", (folder / "out").string()});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_EQ(read_npy(folder / "out/y.npy").type.sizes, (Sizes{3, 4, 3, 3}));
}

TEST(LayerCommands, RawBytesOfModelsAreRefused) {
    const TempFolder folder;
    write_atomically(folder / "input.bin", std::string(1, '\0'));
    const Answer answer = typed({"run", (golden("net/three_patterns_min") / "model.onnx").string(),
                                 "--npu", "tinpu_f28p55", "--inputs", folder.path().string()});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_THAT(answer.err, HasSubstr("'tinpu_f28p55' takes raw bytes for the inputs of shape "
                                      "tables only, not for 'input'"));
}

/// The values of each input determine whether its map is signed, where the model does not.
TEST(LayerCommands, OutputsOfSeveralInputsHoldNumbersOfEitherSign) {
    const TempFolder folder;
    const std::string model = (folder / "model.onnx").string();
    write_atomically(model, test::max_pool_model(2, 2).bytes());
    GraphValue value = zeros({ElementType::Float32, {2, 4, 6, 6}});
    std::fill(value.numbers.begin(), value.numbers.begin() + 144, 3);
    std::fill(value.numbers.begin() + 144, value.numbers.end(), -5);
    const std::string in = (folder / "in.npy").string();
    write_atomically(in, npy_bytes(value));
    const Answer answer = typed({"run", model, "--npu", "tinpu_f28p55", "--inputs", in, "--outputs",
                                 (folder / "out").string()});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    const std::vector<double> numbers = read_npy(folder / "out/y.npy").numbers;
    EXPECT_EQ(numbers.front(), 3);
    EXPECT_EQ(numbers.back(), -5);
}

/// A Cast to float16 after the layer means that float inputs may be real numbers, unless those
/// given are integers.
TEST(LayerCommands, GivenIntegersAreKnownToBeIntegers) {
    const TempFolder folder;
    const std::string model = (folder / "model.onnx").string();
    test::ModelBuilder builder = test::conv_model({}, {});
    builder.graph().clear_output();
    builder.node("Cast", "half", {"y"}).integer("to", onnx::TensorProto_DataType_FLOAT16);
    builder.output("half_y");
    write_atomically(model, builder.bytes());
    const std::string in = (folder / "in.npy").string();
    write_atomically(in, npy_bytes(zeros({ElementType::Int8, {1, 4, 6, 5}})));
    EXPECT_EQ(typed({"run", model, "--npu", "tinpu_f28p55", "--inputs", in}).code, ExitCode::Good);
    write_atomically(
        in, npy_bytes({{ElementType::Float32, {1, 4, 6, 5}}, std::vector<double>(120, 0.5)}));
    EXPECT_EQ(typed({"run", model, "--npu", "tinpu_f28p55", "--inputs", in}).code,
              ExitCode::ExpectationFailed);
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
        std::vector<std::string> arguments{"plan", model, "--npu", "tinpu_f28p55", "--out", out};
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

/// The host makes a finer map for each layer, all of one shape at one place.
TEST(LayerCommands, MapsOfTheHostAtOnePlaceAreThoseOfTheirLayers) {
    test::QuantisedModel layers(3, true);
    std::string map = layers.input("x", {1, 8, 6, 6});
    for (const char* name : {"a", "b", "c"}) {
        map = layers.conv(name, map, 8, 8, 3);
    }
    layers.builder.output(map);
    const TempFolder folder;
    const std::string model = (folder / "model.onnx").string();
    const std::string out = (folder / "planned").string();
    write_atomically(model, layers.builder.bytes());
    ASSERT_EQ(typed({"plan", model, "--npu", "tinpu_f28p55", "--out", out}).code, ExitCode::Good);
    const std::string program = read_whole_file(out + "/program.cfg");
    EXPECT_THAT(program, HasSubstr("// surface b_product/both_y = 0x50000000:1x16x8x8:"));
    EXPECT_THAT(program, HasSubstr("// surface c_product/both_y = 0x50000000:1x16x8x8:"));
    const Answer proved =
        typed({"check", out, "--npu", "tinpu_f28p55", "--prove", "--model", model});
    EXPECT_EQ(proved.code, ExitCode::Good) << proved.out << proved.err;
    EXPECT_THAT(proved.out, HasSubstr("layer b_product: equal"));
}

TEST(LayerCommands, ProgramsWithoutJobsNeedNoProof) {
    const TempFolder folder;
    const std::string model = (folder / "model.onnx").string();
    const std::string out = (folder / "planned").string();
    test::ConvShape shape;
    shape.channels = 3;  // not a multiple of four
    write_atomically(model, test::conv_model(shape, {}).bytes());
    // the host computes everything
    ASSERT_EQ(typed({"plan", model, "--npu", "tinpu_f28p55", "--out", out}).code,
              ExitCode::ExpectationFailed);
    const Answer answer =
        typed({"check", out, "--npu", "tinpu_f28p55", "--prove", "--model", model});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_THAT(answer.err, HasSubstr("the program launches no job, so nothing is to be proved"));
}

TEST(LayerCommands, ProgramsOfSeveralInputsAreComparedWithTheirModel) {
    const TempFolder folder;
    const std::string model = (folder / "model.onnx").string();
    const std::string out = (folder / "planned").string();
    write_atomically(model, test::residual_model({}).bytes());
    for (const char* npu : {"nv_small", "tinpu_f28p55"}) {
        ASSERT_EQ(typed({"plan", model, "--npu", npu, "--out", out}).code, ExitCode::Good);
        const Answer answer =
            typed({"check", out + "/program.cfg", "--npu", npu, "--prove", "--model", model});
        EXPECT_EQ(answer.code, ExitCode::Good) << answer.err << answer.out;
    }
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
}  // namespace npuscope::layer_commands_test
