// SPDX-License-Identifier: Apache-2.0
// Several NPUs behind one memory: the bytes of each are right, and together they get what the memory
// has.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/sim/command_line/typed.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

using Json = nlohmann::json;
using sample::Answer;
using sample::typed;

Json run(std::vector<std::string> line) {
    line.insert(line.begin(), "run");
    line.insert(line.end(), {"--json", "-"});
    const Answer answer = typed(line);
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    return Json::parse(answer.out);
}

std::uint64_t longest(const Json& result) {
    std::uint64_t cycles = 0;
    for (const Json& instance : result["instances"]) {
        cycles = std::max(cycles, instance["cycles"].get<std::uint64_t>());
    }
    return cycles;
}

TEST(Instances, AllBytesAreRightAndNoneIsFasterThanAlone) {
    const TempFolder folder;
    const std::string program = (folder / "program").string();
    ASSERT_EQ(
        typed({"plan", "ds_cnn", "--npu", "nv_small", "--out", program}, {plan_command()}).code,
        ExitCode::Good);
    for (const std::string memory : {"dram_50", "ddr4_2400"}) {
        const std::vector<std::string> line{program, "--npu", "nv_small", "--memory", memory};
        const Json alone = run(line);
        std::vector<std::string> two = line;
        two.insert(two.end(), {"--instances", "2"});
        const Json both = run(two);
        EXPECT_EQ(both["status"], "pass") << memory;
        EXPECT_EQ(both["checks"].size(), 2 * alone["checks"].size()) << memory;
        ASSERT_EQ(both["instances"].size(), 2U);
        std::uint64_t bytes = 0;
        for (const Json& instance : both["instances"]) {
            EXPECT_EQ(instance["failed_checks"], 0);
            EXPECT_GE(instance["cycles"], alone["cycles"]) << memory;
            EXPECT_LE(instance["cycles"].get<double>(), 2.0 * alone["cycles"].get<double>())
                << memory;
            bytes += instance["read_bytes"].get<std::uint64_t>();
        }
        EXPECT_EQ(bytes, 2 * alone["traffic"]["read_bytes"].get<std::uint64_t>()) << memory;
    }
}

TEST(Instances, LevelOffAtTheMemorysPeak) {
    std::vector<double> rates;  // bytes a cycle
    for (const std::string count : {"1", "2", "4", "8"}) {
        const Json result = run({"ds_cnn", "--npu", "nv_large", "--values", "off", "--set",
                                 "memory.regions[0].bandwidth=8 GB/s", "--instances", count});
        const Json& traffic = result["traffic"];
        const auto bytes =
            (traffic["read_bytes"].get<double>() + traffic["write_bytes"].get<double>()) *
            std::stod(count);
        const std::uint64_t cycles =
            count == "1" ? result["cycles"].get<std::uint64_t>() : longest(result);
        rates.push_back(bytes / static_cast<double>(cycles));
        EXPECT_LE(rates.back(), 8.0) << count;
    }
    EXPECT_GT(rates[1], 1.2 * rates[0]);
    EXPECT_GT(rates[3], 7.6) << "eight use nearly all of 8 bytes a cycle";
    EXPECT_NEAR(rates[3], rates[2], 0.4);
}

TEST(Instances, ARegisterProgramIsRunByAll) {
    const Json result =
        run({std::string(NPUSCOPE_SOURCE) + "/tests/golden/rtl_image_blocks/one_output/program.cfg",
             "--instances", "3"});
    EXPECT_EQ(result["status"], "pass");
    EXPECT_EQ(result["instances"].size(), 3U);
}

TEST(Instances, MoreThan64AreRefused) {
    const Answer answer = typed({"run", "ds_cnn", "--instances", "65"});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_THAT(answer.err, testing::HasSubstr("--instances"));
}

}  // namespace
}  // namespace npuscope
