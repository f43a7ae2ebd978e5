// SPDX-License-Identifier: Apache-2.0
// Surfaces as data: written to files, compared with files, and layers compared with a reference
// computation, which names the first wrong one.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/config/file_io.h"
#include "sim/model/graph.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "tests/sim/command_line/typed.h"
#include "tests/support/temp_folder.h"

namespace npuscope::surface_commands_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using sample::Answer;
using ::testing::HasSubstr;
using ::testing::Not;

Answer typed(const std::vector<std::string>& arguments) {
    return sample::typed(arguments, {run_command(), plan_command(), check_command()});
}

class SurfaceCommands : public testing::Test {
 protected:
    std::string at(const std::string& name) const { return (folder_ / name).string(); }
    /// Plans LeNet into a folder.
    void plan() const {
        const Answer answer = typed({"plan", "lenet", "--npu", "nv_small", "--out", at("planned")});
        ASSERT_EQ(answer.code, ExitCode::Good) << answer.err;
    }
    /// Changes the first byte of an image of the plan.
    void damage(const std::string& image) const {
        std::string text = read_whole_file(folder_ / "planned" / image);
        const std::size_t byte = text.find("payload:0x") + 10;
        text.replace(byte, 2, "7f");
        std::ofstream(folder_ / "planned" / image) << text;
    }

    const TempFolder folder_;
    const std::string program_ =
        std::string(NPUSCOPE_SOURCE) + "/configs/experiment/three_layers/program.cfg";
    /// The pooled result of three_layers.
    const std::string pooled_ = "0x80040000:1x16x24x24:int8:feature:atom=8";
};

TEST_F(SurfaceCommands, ADumpIsGoldenTheNextTime) {
    const Answer dumped = typed({"run", program_, "--dump", pooled_ + "=" + at("pooled.npy")});
    EXPECT_EQ(dumped.code, ExitCode::Good) << dumped.err;
    const GraphValue array = read_npy(folder_ / "pooled.npy");
    EXPECT_EQ(array.type, (TensorType{ElementType::Int8, {1, 16, 24, 24}}));
    const Answer again =
        typed({"run", program_, "--golden", pooled_ + "=" + at("pooled.npy"), "--json", "-"});
    EXPECT_EQ(again.code, ExitCode::Good) << again.err;
    const Json row = Json::parse(again.out)["checks"].back();
    EXPECT_EQ(row["kind"], "golden");
    EXPECT_EQ(row["pass"], true);
    EXPECT_FALSE(row.contains("difference"));
}

TEST_F(SurfaceCommands, AMismatchIsNamedByItsElementAndShown) {
    typed({"run", program_, "--dump", pooled_ + "=" + at("pooled.npy")});
    GraphValue array = read_npy(folder_ / "pooled.npy");
    const std::size_t first = (3 * 24 + 5) * 24 + 7;
    const std::size_t worst = (4 * 24 + 23) * 24 + 23;
    array.numbers[first] += array.numbers[first] > 0 ? -1 : 1;
    array.numbers[worst] += array.numbers[worst] > 0 ? -100 : 100;
    std::ofstream(folder_ / "pooled.npy", std::ios::binary) << npy_bytes(array);
    const Answer answer = typed(
        {"run", program_, "--golden", pooled_ + "=" + at("pooled.npy"), "--json", at("r.json")});
    EXPECT_EQ(answer.code, ExitCode::ExpectationFailed);
    EXPECT_THAT(answer.out, HasSubstr("2 of 9,216 elements differ"));
    EXPECT_THAT(answer.out,
                HasSubstr("first: batch 0, channel 3, row 5, column 7 (at 0x800403fb)"));
    EXPECT_THAT(answer.out, HasSubstr("worst: batch 0, channel 4, row 23, column 23"));
    EXPECT_THAT(answer.out, HasSubstr("in channels 3..4\n"));
    EXPECT_THAT(answer.out, HasSubstr("\n    .......+................\n"));
    const Json row = Json::parse(read_whole_file(folder_ / "r.json"))["checks"].back();
    const Json& difference = row["difference"];
    EXPECT_EQ(difference["mismatches"], 2);
    EXPECT_EQ(difference["first"]["c"], 3);
    EXPECT_EQ(difference["first"]["h"], 5);
    EXPECT_EQ(difference["first"]["w"], 7);
    EXPECT_EQ(difference["worst"]["c"], 4);
    EXPECT_EQ(difference["picture"].size(), 20U);
}

TEST_F(SurfaceCommands, RawBytesLieAsInMemory) {
    const std::string whole = "0x80040000:9216:uint8:W";
    typed({"run", program_, "--dump", whole + "=" + at("bytes.npy")});
    const std::string file = read_whole_file(folder_ / "bytes.npy");
    std::ofstream(folder_ / "bytes.bin", std::ios::binary) << file.substr(file.size() - 9216);
    EXPECT_EQ(typed({"run", program_, "--golden", pooled_ + "=" + at("bytes.bin")}).code,
              ExitCode::Good);
    std::ofstream(folder_ / "short.bin") << "abc";
    EXPECT_THAT(typed({"run", program_, "--golden", pooled_ + "=" + at("short.bin")}).err,
                HasSubstr("has 3 bytes"));
}

TEST_F(SurfaceCommands, WrongWishesAreRefusedBeforeAnythingRuns) {
    const auto refusal = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"run", "lenet"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Answer answer = typed(arguments);
        EXPECT_EQ(answer.code, ExitCode::WrongInput);
        return answer.err;
    };
    EXPECT_THAT(refusal({"--dump", "c2=x.npy"}),
                HasSubstr("unknown surface 'c2' (did you mean 's2'? known: input, s2"));
    EXPECT_THAT(refusal({"--dump", "s2"}), HasSubstr("a surface and a file are needed"));
    EXPECT_THAT(refusal({"--dump", "0x80000000:1x2:int8=x"}),
                HasSubstr("surface '0x80000000:1x2:int8' has 3 of the four parts"));
    EXPECT_THAT(refusal({"--dump", "0x80000000:4:int9:W=x"}), HasSubstr("did you mean 'int8'?"));
    EXPECT_THAT(refusal({"--golden", "s2=none.npy"}), HasSubstr("none.npy"));
    EXPECT_THAT(refusal({"--dump", "s2=x.npy", "--values", "off"}), HasSubstr("--values off"));
    EXPECT_THAT(typed({"run", program_, "--compare-layers"}).err, HasSubstr("--network NETWORK"));
    EXPECT_FALSE(fs::exists("x.npy"));
}

TEST_F(SurfaceCommands, ASavedPlanShowsTheLayersOfItsNetwork) {
    plan();
    const Json network = Json::parse(typed({"run", "lenet", "--json", "-"}).out);
    const Json saved = Json::parse(typed({"run", at("planned"), "--json", "-"}).out);
    EXPECT_EQ(network["layers"], saved["layers"]);
    EXPECT_EQ(network["cycles"], saved["cycles"]);
    EXPECT_EQ(saved["layers"].size(), 5U);
}

TEST_F(SurfaceCommands, AWrongWeightByteIsFoundInItsLayerAndChannel) {
    plan();
    const std::vector<std::string> run{"run", at("planned"), "--compare-layers", "--network",
                                       "lenet"};
    const Answer good = typed(run);
    EXPECT_EQ(good.code, ExitCode::Good) << good.out << good.err;
    EXPECT_THAT(good.out, HasSubstr("pass  layer"));
    typed({"run", at("planned"), "--dump", "f6=" + at("f6.npy")});
    damage("c3_weights.dat");
    const Answer wrong = typed(run);
    EXPECT_EQ(wrong.code, ExitCode::ExpectationFailed);
    EXPECT_THAT(wrong.out, HasSubstr("first wrong layer 's4':"));
    EXPECT_THAT(wrong.out, HasSubstr("23 of 400 elements differ"));
    EXPECT_THAT(wrong.out, HasSubstr("first: batch 0, channel 0, row 0, column 0"));
    EXPECT_THAT(wrong.out, HasSubstr("in channels 0\n"));
    EXPECT_THAT(wrong.out, Not(HasSubstr("layer 's2'")));
    const Answer later = typed({"run", at("planned"), "--golden", "f6=" + at("f6.npy")});
    EXPECT_THAT(later.out, HasSubstr("surface 'f6':"));
}

TEST_F(SurfaceCommands, LayersOfTablesHoldOnEveryKindOfNpu) {
    for (const char* npu : {"nv_small", "nv_large", "nv_full"}) {
        const Answer answer = typed({"run", "lenet", "--npu", npu, "--compare-layers"});
        EXPECT_EQ(answer.code, ExitCode::Good) << npu << answer.out << answer.err;
        EXPECT_THAT(answer.out, HasSubstr("pass  layer  output"));
    }
}

TEST_F(SurfaceCommands, LayersOfModelsHoldAgainstTheHostsOperators) {
    const fs::path net = fs::path(NPUSCOPE_SOURCE) / "tests/golden/onnx/net/three_patterns_min";
    const std::string model = (net / "model.onnx").string();
    std::string input = finish_graph(read_onnx(model)).inputs.front();
    std::ranges::replace(input, '/', '_');
    fs::create_directories(folder_ / "in");
    fs::copy_file(net / "input_0.npy", folder_ / "in" / (input + ".npy"));
    EXPECT_THAT(typed({"run", model, "--compare-layers"}).err, HasSubstr("--inputs DIR"));
    for (const char* npu : {"nv_small", "tinpu_f28p55"}) {
        const Answer answer =
            typed({"run", model, "--npu", npu, "--inputs", at("in"), "--compare-layers"});
        EXPECT_EQ(answer.code, ExitCode::Good) << npu << answer.out << answer.err;
        EXPECT_THAT(answer.out, HasSubstr("pass  layer"));
    }
}

TEST_F(SurfaceCommands, AnImageDescriptionNamesSurfacesToo) {
    std::ofstream(folder_ / "image.yaml")
        << "surfaces:\n  - {name: pooled, layout: feature, shape: 1x16x24x24, address: "
           "0x80040000}\n  - {name: weights_1, layout: raw, address: 0x80010000, bytes: 64}\n";
    const std::vector<std::string> described{"run", program_, "--surfaces", at("image.yaml")};
    std::vector<std::string> named = described;
    named.insert(named.end(), {"--dump", "pooled=" + at("a.npy"), "--dump",
                               pooled_ + "=" + at("b.npy"), "--dump", "weights_1=" + at("w.npy")});
    const Answer answer = typed(named);
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    EXPECT_EQ(read_whole_file(folder_ / "a.npy"), read_whole_file(folder_ / "b.npy"));
    EXPECT_EQ(read_npy(folder_ / "w.npy").numbers.size(), 64U);
}

TEST_F(SurfaceCommands, WhatPlanWritesIsADescription) {
    plan();
    const std::string map = at("planned/memory_map.yaml");
    const Answer good = typed({"check", map, "--dump", "c3_weights=" + at("w.npy")});
    EXPECT_EQ(good.code, ExitCode::Good) << good.out << good.err;
    EXPECT_EQ(typed({"check", map, "--golden", "c3_weights=" + at("w.npy")}).code, ExitCode::Good);
    fs::copy(folder_ / "planned", folder_ / "other");
    EXPECT_EQ(typed({"check", map, "--against", at("other/memory_map.yaml")}).code, ExitCode::Good);
    damage("c3_weights.dat");
    const Answer golden = typed({"check", map, "--golden", "c3_weights=" + at("w.npy")});
    EXPECT_EQ(golden.code, ExitCode::ExpectationFailed);
    EXPECT_THAT(golden.out, HasSubstr("surface_differs"));
    const Answer against = typed({"check", map, "--against", at("other/memory_map.yaml")});
    EXPECT_THAT(against.out, HasSubstr("1 of 2560 elements of 'c3_weights' differ"));
    EXPECT_THAT(typed({"check", map, "--dump", "c3_weigths=" + at("x.npy")}).err,
                HasSubstr("c3_weights"));
    EXPECT_THAT(typed({"check", program_, "--dump", "a=" + at("x.npy")}).err,
                HasSubstr("not the description of a memory image"));
}

TEST_F(SurfaceCommands, FilesThatAreReadIndirectlyAreNotOverwritten) {
    plan();
    const std::string planned = at("planned");
    fs::create_directory(folder_ / "in");
    std::ofstream(folder_ / "in/input.bin") << std::string(1024, 'x');
    std::ofstream(folder_ / "zeros") << std::string(64, '\0');
    std::ofstream(folder_ / "image.yaml")
        << "memory:\n  - {file: zeros, address: 0x80000000}\nsurfaces:\n"
           "  - {name: a, layout: raw, address: 0x80000000, bytes: 64}\n";
    const auto refused = [&](const std::vector<std::string>& arguments) {
        const Answer answer = typed(arguments);
        EXPECT_EQ(answer.code, ExitCode::WrongInput) << answer.out;
        EXPECT_THAT(answer.err, HasSubstr("is also an input; the output would overwrite it"));
    };
    for (const char* file : {"/program.cfg", "/c1_weights.dat", "/memory_map.yaml"}) {
        refused({"run", planned, "--json", planned + file});
        refused({"run", planned + "/program.cfg", "--dump", "f6=" + planned + file});
        refused({"check", planned + "/memory_map.yaml", "--dump", "c1_bias=" + planned + file});
    }
    refused({"check", at("image.yaml"), "--dump", "a=" + at("zeros")});
    refused({"check", at("image.yaml"), "--json", at("zeros")});
    refused({"check", planned + "/memory_map.yaml", "--against", at("image.yaml"), "--json",
             at("zeros")});
    refused({"run", "lenet", "--inputs", at("in"), "--csv", at("in/input.bin")});
    for (int times = 0; times < 2; ++times) {  // other files of the folders may be replaced
        const Answer answer = typed({"run", "lenet", "--inputs", at("in"), "--dump",
                                     "f6=" + at("in/f6.npy"), "--json", planned + "/r.json"});
        EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    }
}

TEST_F(SurfaceCommands, FindingsNameTheSurface) {
    plan();
    std::string text = read_whole_file(folder_ / "planned/program.cfg");
    const std::size_t load = text.find("mem_load(pri_mem", text.find("c3_weights") - 60);
    text.insert(load, "// ");
    std::ofstream(folder_ / "planned/program.cfg") << text;
    const Answer answer = typed({"check", at("planned")});
    EXPECT_EQ(answer.code, ExitCode::ExpectationFailed);
    EXPECT_THAT(answer.out, HasSubstr("surface c3_weights"));
}

TEST_F(SurfaceCommands, ExperimentsRepeatThem) {
    typed({"run", program_, "--dump", pooled_ + "=" + at("pooled.npy")});
    const Answer first =
        typed({"run", program_, "--golden", pooled_ + "=" + at("pooled.npy"), "--out", at("out")});
    EXPECT_EQ(first.code, ExitCode::Good) << first.err;
    typed({"run", at("out/config.yaml"), "--out", at("again")});
    const Json one = Json::parse(read_whole_file(folder_ / "out/result.json"));
    const Json two = Json::parse(read_whole_file(folder_ / "again/result.json"));
    EXPECT_EQ(one["checks"], two["checks"]);
    EXPECT_EQ(one["checks"].back()["kind"], "golden");
}

}  // namespace
}  // namespace npuscope::surface_commands_test
