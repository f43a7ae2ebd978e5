// SPDX-License-Identifier: Apache-2.0
// The bundled three-layer example: what its script makes, and what nv_small computes.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

const fs::path example_folder = fs::path(NPUSCOPE_SOURCE) / "configs/experiment/three_layers";

int shell(const std::string& line) { return WEXITSTATUS(std::system(line.c_str())); }

std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(BundledExample, IsWhatItsScriptMakes) {
    const TempFolder folder;
    const std::string script = std::string(NPUSCOPE_SOURCE) + "/scripts/make_three_layers";
    ASSERT_EQ(shell("'" + script + "' '" + folder.string() + "'"), 0);
    std::size_t files = 0;
    for (const fs::directory_entry& made : fs::directory_iterator(folder)) {
        EXPECT_EQ(content(made.path()), content(example_folder / made.path().filename()))
            << made.path().filename();
        ++files;
    }
    EXPECT_EQ(files, 5U);
}

TEST(BundledExample, PassesOnNvSmall) {
    const std::string program = (example_folder / "program.cfg").string();
    EXPECT_EQ(shell(std::string(NPUSCOPE_EXECUTABLE) + " run '" + program +
                    "' --npu nv_small --json - > /dev/null 2>&1"),
              0);
}

nlohmann::json run_with(const std::string& options) {
    const TempFolder folder;
    const fs::path json = folder / "result.json";
    const std::string program = (example_folder / "program.cfg").string();
    EXPECT_EQ(shell(std::string(NPUSCOPE_EXECUTABLE) + " run '" + program + "' " + options +
                    " --json '" + json.string() + "' > /dev/null"),
              0);
    return nlohmann::json::parse(content(json));
}

TEST(BundledExample, DramIsCountedAndKeepsItsPaceWhenTheNpuSlowsDown) {
    const auto fast = run_with("--memory ddr4_2400 --set npu.clock=1GHz");
    const auto slow = run_with("--memory ddr4_2400 --set npu.clock=500MHz");
    EXPECT_LT(slow["cycles"], fast["cycles"]);
    const auto& dram = fast["drams"]["dram"];
    EXPECT_GT(dram["read_bursts"], 0);
    EXPECT_EQ(dram["row_hits"].get<int>() + dram["row_misses"].get<int>() +
                  dram["row_conflicts"].get<int>(),
              dram["read_bursts"].get<int>() + dram["write_bursts"].get<int>());
}

}  // namespace
}  // namespace npuscope
