// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "sim/config/file_io.h"
#include "sim/config/json_writer.h"
#include "sim/config/preset.h"
#include "tests/sim/command_line/typed.h"
#include "tests/support/temp_folder.h"

namespace npuscope::command_check_test {
namespace {

namespace fs = std::filesystem;
using sample::Answer;

Answer typed(const std::vector<std::string>& arguments) {
    return sample::typed(arguments, {plan_command(), check_command()});
}

class CommandCheck : public testing::Test {
 protected:
    void SetUp() override {
        const fs::path lenet = configs_folder() / "workload/lenet.yaml";
        ASSERT_EQ(typed({"plan", lenet.string(), "--out", folder_.string()}).code, ExitCode::Good);
    }

    const TempFolder folder_;
};

TEST_F(CommandCheck, APlannedProgramIsClean) {
    const Answer answer = typed({"check", folder_.string()});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.out << answer.err;
    EXPECT_NE(answer.out.find("0 errors, 0 warnings"), std::string::npos) << answer.out;
}

TEST_F(CommandCheck, HalfTheLinesOfAMapOfOneColumnAreNoMistake) {
    write_atomically(folder_ / "column.yaml",
                     "name: column\n"
                     "input: {channels: 16, height: 128, width: 1}\n"
                     "layers: [{name: a, kind: conv, kernels: 16, kernel: 1}]\n");
    const TempFolder planned;
    ASSERT_EQ(typed({"plan", (folder_ / "column.yaml").string(), "--out", planned.string()}).code,
              ExitCode::Good);
    const Answer answer = typed({"check", planned.string()});
    EXPECT_NE(answer.out.find("0 errors, 0 warnings"), std::string::npos) << answer.out;
}

TEST_F(CommandCheck, AMistakeIsListedWithRegisterAndRemedy) {
    std::string program = read_whole_file(folder_ / "program.cfg");
    const std::string name = "reg_write(NVDLA_CDMA.D_WEIGHT_ADDR_LOW_0, 0x";
    const std::size_t digits = program.find(')', program.find(name)) - 1;
    program[digits] = '3';
    write_atomically(folder_ / "program.cfg", program);
    const Answer answer = typed({"check", folder_.string(), "--json", "-"});
    EXPECT_EQ(answer.code, ExitCode::ExpectationFailed);
    EXPECT_NE(answer.out.find("\"register\": \"NVDLA_CDMA.D_WEIGHT_ADDR_LOW_0\""),
              std::string::npos)
        << answer.out;
    EXPECT_NE(answer.out.find("\"id\": \"misaligned\""), std::string::npos) << answer.out;
    EXPECT_NE(answer.err.find("remedy: the nearest legal values"), std::string::npos) << answer.err;
}

TEST_F(CommandCheck, ResultsAreProvedAndWrittenAsArrays) {
    const TempFolder arrays;
    const std::string program = (folder_ / "program.cfg").string();
    const Answer answer =
        typed({"check", program, "--prove", "--out", arrays.string(), "--json", "-"});
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    const Json report = Json::parse(answer.out);
    ASSERT_FALSE(report["proof"].empty());
    for (const Json& line : report["proof"]) {
        EXPECT_EQ(line["status"], "proved") << line;
    }
    std::string stem = report["proof"][0]["operation"];
    std::ranges::replace(stem, ' ', '_');
    for (const char* name : {"_input.npy", "_weights.npy", "_result.npy"}) {
        EXPECT_TRUE(fs::exists(arrays / (stem + name))) << stem << name;
    }
}

TEST_F(CommandCheck, ResultsAreHeldAgainstTheLayersOfTheModel) {
    const fs::path model =
        fs::path(NPUSCOPE_SOURCE) / "tests/golden/onnx/net/three_patterns_min/model.onnx";
    const TempFolder plan;
    ASSERT_EQ(typed({"plan", model.string(), "--npu", "nv_small", "--out", plan.string()}).code,
              ExitCode::Good);
    const fs::path folder =
        fs::exists(plan / "program.cfg") ? fs::path(plan.string()) : plan / "segment_1";
    const std::vector<std::string> command{"check",
                                           (folder / "program.cfg").string(),
                                           "--npu",
                                           "nv_small",
                                           "--prove",
                                           "--model",
                                           model.string(),
                                           "--json",
                                           "-"};
    const Answer answer = typed(command);
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    const Json layers = Json::parse(answer.out)["layers"];
    ASSERT_FALSE(layers.empty());
    for (const Json& layer : layers) {
        EXPECT_EQ(layer["status"], "equal") << layer;
    }
    // other weights: the bytes are still those of the operation, but no longer those of the model
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (entry.path().filename().string().ends_with("_weights.dat")) {
            std::string text = read_whole_file(entry.path());
            const std::size_t payload = text.find("payload:0x") + 10;
            text[payload] = text[payload] == '0' ? '7' : '0';
            write_atomically(entry.path(), text);
        }
    }
    const Answer wrong = typed(command);
    EXPECT_EQ(wrong.code, ExitCode::ExpectationFailed) << wrong.err;
    const Json report = Json::parse(wrong.out);
    for (const Json& line : report["proof"]) {
        EXPECT_EQ(line["status"], "proved") << line;
    }
    EXPECT_TRUE(std::ranges::any_of(report["findings"], [](const Json& finding) {
        return finding["id"] == "layer_differs";
    })) << wrong.out;
}

TEST_F(CommandCheck, ThePlanOfAModelHasSurfacesAndAMapForEachSegment) {
    const fs::path models = fs::path(NPUSCOPE_SOURCE) / "tests/golden/onnx";
    for (const char* npu : {"nv_small", "tinpu_f28p55"}) {
        const Answer answer =
            typed({"check", (models / "net/three_patterns_min/model.onnx").string(), "--npu", npu,
                   "--map", "--json", "-"});
        EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
        const Json report = Json::parse(answer.out);
        EXPECT_GT(report["surfaces"], 0) << npu;
        ASSERT_TRUE(report.contains("memory_map")) << npu;
        EXPECT_NE(answer.err.find("memory map"), std::string::npos) << answer.err;
    }
}

TEST_F(CommandCheck, AProofTakesNoMemoryForWhatTheMachineRefuses) {
    const fs::path program = folder_ / "filled.cfg";
    write_atomically(program,
                     "mem_init(pri_mem, 0x80000000, 0xf000000000000000, ALL_ZERO);\n"
                     "mem_init(pri_mem, 0xf00000000000, 0x40000000, ONES);\n");
    const Answer answer = typed({"check", program.string(), "--prove"});
    EXPECT_EQ(answer.code, ExitCode::ExpectationFailed) << answer.err;
    EXPECT_NE(answer.out.find("[out_of_bounds]"), std::string::npos) << answer.out;
}

TEST_F(CommandCheck, OnlyRegisterProgramsAreProved) {
    const std::string map = (folder_ / "memory_map.yaml").string();
    EXPECT_EQ(typed({"check", map, "--prove"}).code, ExitCode::WrongInput);
    const std::string program = (folder_ / "program.cfg").string();
    EXPECT_EQ(typed({"check", program, "--out", map}).code, ExitCode::WrongInput);
    EXPECT_EQ(typed({"check", program, "--npu", "tinpu_f28p55", "--prove"}).code,
              ExitCode::WrongInput);
}

TEST_F(CommandCheck, FindingsAreChosenAndWrittenAsSarif) {
    std::string program = read_whole_file(folder_ / "program.cfg");
    const std::string name = "reg_write(NVDLA_CDMA.D_CONV_STRIDE_0, 0x";
    const std::size_t digits = program.find(')', program.find(name)) - 1;
    program[digits] = program[digits] == '0' ? '1' : '0';
    write_atomically(folder_ / "program.cfg", program);
    const std::string sarif = (folder_ / "found.sarif").string();
    const Answer warned = typed({"check", folder_.string(), "--sarif", sarif});
    EXPECT_NE(warned.out.find("0 errors, 3 warnings"), std::string::npos) << warned.out;
    const Json run = Json::parse(read_whole_file(sarif))["runs"][0];
    const Json& result = run["results"][0];
    EXPECT_EQ(result["level"], "warning");
    EXPECT_EQ(run["tool"]["driver"]["rules"][result["ruleIndex"].get<std::size_t>()]["id"],
              result["ruleId"]);
    const Json& place = result["locations"][0]["physicalLocation"];
    EXPECT_EQ(place["artifactLocation"]["uri"], (folder_ / "program.cfg").string());
    EXPECT_GT(place["region"]["startLine"], 1);
    const Answer printed = typed({"check", folder_.string(), "--sarif", "-"});
    EXPECT_EQ(printed.out, read_whole_file(sarif));
    EXPECT_NE(printed.err.find("0 errors, 3 warnings"), std::string::npos) << printed.err;
    EXPECT_EQ(typed({"check", folder_.string(), "--sarif", "-", "--json", "-"}).err,
              "npuscope: both --json and --sarif ask for standard output (give one of them a "
              "file)\n");

    const Answer graver = typed({"check", folder_.string(), "--werror"});
    EXPECT_NE(graver.out.find("3 errors, 0 warnings"), std::string::npos) << graver.out;
    EXPECT_EQ(typed({"check", folder_.string(), "--ignore", result["ruleId"]}).code,
              ExitCode::Good);
}

TEST_F(CommandCheck, ListsItsRulesAlone) {
    const Answer listed = typed({"check", "--rules"});
    EXPECT_EQ(listed.code, ExitCode::Good);
    EXPECT_NE(listed.out.find("race  "), std::string::npos) << listed.out;
    EXPECT_EQ(listed.out.find("bdma_busy"), std::string::npos);  // of `run`
}

TEST_F(CommandCheck, ARuleIsExplainedByItsId) {
    const Answer known = typed({"check", "--explain", "race"});
    EXPECT_EQ(known.code, ExitCode::Good);
    EXPECT_NE(known.out.find("source:"), std::string::npos) << known.out;
    const Answer unknown = typed({"check", "--explain", "rase"});
    EXPECT_EQ(unknown.code, ExitCode::WrongInput);
    EXPECT_NE(unknown.err.find("did you mean 'race'"), std::string::npos) << unknown.err;
    EXPECT_EQ(typed({"check"}).code, ExitCode::WrongInput);
}

TEST_F(CommandCheck, RefusesWhatIsNoProgram) {
    EXPECT_EQ(typed({"check", (folder_ / "input.dat").string()}).code, ExitCode::WrongInput);
    EXPECT_EQ(typed({"check", (folder_ / "nothing").string()}).code, ExitCode::WrongInput);
}

}  // namespace
}  // namespace npuscope::command_check_test
