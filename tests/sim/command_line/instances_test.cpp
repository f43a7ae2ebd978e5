// SPDX-License-Identifier: Apache-2.0
// Several NPUs behind one memory: the bytes of each are right, and together they get what the
// memory provides.
#include <gmock/gmock-matchers.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/config/file_io.h"
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

Json split(const std::string& by, const std::string& count, std::vector<std::string> line) {
    line.insert(line.end(), {"--instances", count, "--split", by});
    return run(line);
}

std::uint64_t sum_of_layers(const Json& result) {
    std::uint64_t cycles = 0;
    for (const Json& layer : result["layers"]) {
        cycles += layer["cycles"].get<std::uint64_t>();
    }
    return cycles;
}

TEST(Instances, APipelineIsDescribedByItsSlowestPart) {
    const Json shared = split("pipeline", "3", {"lenet", "--npu", "nv_small", "--values", "off"});
    ASSERT_LT(shared["instances"][0]["cycles"], shared["cycles"]);
    EXPECT_EQ(shared["cycles"], longest(shared));
    EXPECT_EQ(shared["cycles"], shared["split"]["interval_cycles"]);
    EXPECT_EQ(sum_of_layers(shared), shared["cycles"]);
}

TEST(Instances, RowsAndLayersOfANetworkAreThoseOfOneNpu) {
    const std::vector<std::string> line{"ds_cnn", "--npu", "nv_small"};
    const Json alone = run(line);
    for (const std::string by : {"rows", "pipeline"}) {
        for (const std::string count : {"2", "3"}) {
            const Json shared = split(by, count, line);
            EXPECT_EQ(shared["status"], "pass") << by << count;
            EXPECT_EQ(shared["checks"].size(), alone["layers"].size()) << by << count;
            EXPECT_EQ(shared["split"]["by"], by);
            EXPECT_EQ(shared["split"]["alone_cycles"], alone["cycles"]) << by << count;
            EXPECT_EQ(shared["cycles"], longest(shared)) << by << count;
            EXPECT_EQ(sum_of_layers(shared), shared["cycles"]) << by << count;
            const double gain = alone["cycles"].get<double>() / shared["cycles"].get<double>();
            EXPECT_GT(gain, 1.3) << by << count;
            EXPECT_LE(gain, std::stod(count)) << by << count;
        }
    }
}

/// Every kind of layer, pools and additions by themselves, and layers that branch.
constexpr const char* branches = R"(
name: branches
input: {channels: 8, height: 23, width: 17}
layers:
  - {name: wide, kind: conv, kernels: 16, kernel: 3, padding: 1, relu: true}
  - {name: small, kind: conv, from: [input], kernels: 16, kernel: 1}
  - {name: sum, kind: add, from: [wide, small]}
  - {name: most, kind: max_pool, kernel: 3, stride: 2, padding: 1}
  - {name: mean, kind: avg_pool, kernel: 2, stride: 1}
  - {name: again, kind: add, from: [mean, mean]}
  - {name: deep, kind: conv, kernels: 24, kernel: 3, stride: 2, groups: 8, padding: 1}
  - {name: end, kind: fc, kernels: 10}
)";

TEST(Instances, EveryKindOfLayerIsShared) {
    const TempFolder folder;
    const std::string table = (folder / "branches.yaml").string();
    write_atomically(table, branches);
    for (const std::string npu : {"nv_small", "nv_large", "nv_full"}) {
        for (const std::string by : {"rows", "pipeline"}) {
            for (const std::string count : {"2", "5"}) {
                EXPECT_EQ(split(by, count, {table, "--npu", npu})["status"], "pass")
                    << npu << by << count;
            }
        }
    }
}

TEST(Instances, MoreThanLayersShareNoPipeline) {
    const Answer answer = typed({"run", "ds_cnn", "--npu", "nv_small", "--instances", "60",
                                 "--split", "pipeline", "--values", "off"});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_THAT(answer.err, testing::HasSubstr("layers for 60 instances"));
}

TEST(Instances, ALimitOfCyclesIsNoFaultOfThePlan) {
    const Answer answer = typed({"run", "ds_cnn", "--npu", "nv_small", "--instances", "2",
                                 "--split", "rows", "--max-cycles", "1000"});
    EXPECT_EQ(answer.code, ExitCode::MachineStopped);
    EXPECT_THAT(answer.err, testing::HasSubstr("cycle limit"));
    EXPECT_THAT(answer.err, testing::Not(testing::HasSubstr("uninitialised")));
}

TEST(Instances, FewRowsArePartOfTheFirstOnes) {
    const Json shared = split("rows", "64", {"lenet", "--npu", "nv_small"});
    EXPECT_EQ(shared["status"], "pass");
    EXPECT_GT(shared["instances"][0]["cycles"], 0);
}

TEST(Instances, OneSharesNothing) {
    const Answer answer = typed({"run", "ds_cnn", "--npu", "nv_small", "--split", "rows"});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_THAT(answer.err, testing::HasSubstr("--instances 2"));
}

TEST(Instances, ProgramsRunBesideEachOther) {
    const std::string program =
        std::string(NPUSCOPE_SOURCE) + "/tests/golden/rtl_image_blocks/one_output/program.cfg";
    const Json alone = run({"ds_cnn", "--npu", "nv_small", "--values", "off"});
    const Json result = run({program, "--npu", "nv_small", "--beside", "ds_cnn"});
    EXPECT_EQ(result["status"], "pass");
    ASSERT_EQ(result["instances"].size(), 2U);
    EXPECT_EQ(result["instances"][1]["program"], "ds_cnn");
    EXPECT_GE(result["instances"][1]["cycles"], alone["cycles"]);
}

TEST(Instances, MoreThan64AreRefused) {
    const Answer answer = typed({"run", "ds_cnn", "--instances", "65"});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_THAT(answer.err, testing::HasSubstr("--instances"));
}

}  // namespace
}  // namespace npuscope
