// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "sim/config/file_io.h"
#include "sim/config/preset.h"
#include "tests/sim/command_line/typed.h"
#include "tests/support/temp_folder.h"

namespace npuscope::command_plan_test {
namespace {

namespace fs = std::filesystem;
using sample::Answer;

Answer typed(const std::vector<std::string>& arguments) {
    return sample::typed(arguments, {run_command(), plan_command()});
}

std::string lenet() { return (configs_folder() / "workload/lenet.yaml").string(); }

/// `43,601 cycles` of a run's first line.
std::string cycles_of(const Answer& answer) {
    const std::size_t begin = answer.out.find("\n  ");
    const std::string_view unit = " cycles";
    return answer.out.substr(begin, answer.out.find(unit) + unit.size() - begin);
}

TEST(CommandPlan, PrintsTheLayersAndTheirMultiplications) {
    const Answer answer = typed({"plan", lenet()});
    EXPECT_EQ(answer.code, ExitCode::Good);
    EXPECT_NE(answer.out.find("416,520 MACs"), std::string::npos) << answer.out;
    EXPECT_NE(answer.out.find("6x14x14"), std::string::npos) << answer.out;
}

TEST(CommandPlan, WhatItSavesRunsLikeTheNetworkItself) {
    const TempFolder folder;
    EXPECT_EQ(typed({"plan", lenet(), "--out", folder.string()}).code, ExitCode::Good);
    const Answer saved = typed({"run", folder.string()});
    const Answer planned = typed({"run", lenet()});
    const Answer timed = typed({"run", lenet(), "--values", "off"});
    EXPECT_EQ(saved.code, ExitCode::Good) << saved.err;
    EXPECT_EQ(cycles_of(saved), cycles_of(planned));
    EXPECT_EQ(cycles_of(timed), cycles_of(planned));
    EXPECT_NE(cycles_of(planned).find("cycles"), std::string::npos);
}

TEST(CommandPlan, WhatItSavesComparesEveryLayersResultAndMapsMemory) {
    const TempFolder folder;
    EXPECT_EQ(typed({"plan", lenet(), "--out", folder.string()}).code, ExitCode::Good);
    const std::string program = read_whole_file(folder / "program.cfg");
    const std::string map = read_whole_file(folder / "memory_map.yaml");
    std::size_t checks = 0;
    for (std::size_t at = program.find("check_crc"); at != std::string::npos;
         at = program.find("check_crc", at + 1)) {
        ++checks;
    }
    EXPECT_EQ(checks, 5U);
    EXPECT_NE(map.find("{name: c1_weights, file: c1_weights.dat, address: 0x8"), std::string::npos)
        << map;
    EXPECT_NE(map.find("{name: s4, layout: feature"), std::string::npos) << map;
}

TEST(CommandPlan, ExplainsWhatItChose) {
    const Answer answer = typed({"plan", lenet(), "--explain"});
    EXPECT_NE(answer.out.find("c5: 1 tile, banks"), std::string::npos) << answer.out;
    EXPECT_NE(answer.out.find("bound by memory"), std::string::npos) << answer.out;
}

TEST(CommandPlan, FormsOfOperandsAreAQuestionOfOptions) {
    const auto plan = [](std::vector<std::string> options) {
        std::vector<std::string> words{"plan", lenet(), "--explain", "--npu", "nv_full"};
        words.insert(words.end(), options.begin(), options.end());
        return typed(words).out;
    };
    EXPECT_NE(plan({}).find("s2: image T_R8"), std::string::npos) << plan({});
    EXPECT_EQ(plan({"--no-pixels"}).find("image"), std::string::npos);
    EXPECT_EQ(plan({}).find("weights compressed"), std::string::npos);
    EXPECT_NE(plan({"--compress", "always"}).find("weights compressed"), std::string::npos);
    const Answer refused = typed({"plan", lenet(), "--compress", "often"});
    EXPECT_EQ(refused.code, ExitCode::WrongInput);
    EXPECT_NE(refused.err.find("always"), std::string::npos) << refused.err;
}

std::string workload(const std::string& name) {
    return (configs_folder() / "workload" / (name + ".yaml")).string();
}

/// The line of a text that begins with a word, blanks before it aside.
std::string line_of(const std::string& text, const std::string& word) {
    const std::size_t begin = text.find(word + "  ");
    return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

TEST(CommandPlan, ALayerInSlicesHasTheShapeOfItsResult) {
    const Answer answer =
        typed({"plan", workload("tiny_yolo"), "--npu", "nv_large", "--set", "npu.cbuf.banks=10"});
    EXPECT_NE(line_of(answer.out, "conv8").find(" 1024x13x13 "), std::string::npos) << answer.out;
}

TEST(CommandPlan, RefusesWhatCannotBePlanned) {
    const Answer answer = typed({"plan", lenet(), "--set", "npu.cbuf.bank_depth=1"});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_NE(answer.err.find("layer 'c1'"), std::string::npos) << answer.err;
}

}  // namespace
}  // namespace npuscope::command_plan_test
