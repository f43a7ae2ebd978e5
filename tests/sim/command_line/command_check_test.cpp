// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "sim/config/file_io.h"
#include "sim/config/preset.h"
#include "tests/sim/command_line/typed.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
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

TEST_F(CommandCheck, RefusesWhatIsNoProgram) {
    EXPECT_EQ(typed({"check", (folder_ / "input.dat").string()}).code, ExitCode::WrongInput);
    EXPECT_EQ(typed({"check", (folder_ / "nothing").string()}).code, ExitCode::WrongInput);
}

}  // namespace
}  // namespace npuscope
