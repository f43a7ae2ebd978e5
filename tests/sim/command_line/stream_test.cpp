// SPDX-License-Identifier: Apache-2.0
// Streams of frames on the command line: throughput and latency of tables and models on every
// family.
#include <gmock/gmock-matchers.h>

#include <fstream>
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
using testing::HasSubstr;

Json stream_of(std::vector<std::string> line) {
    line.insert(line.begin(), "run");
    line.insert(line.end(), {"--values", "off", "--stream", "4", "--json", "-"});
    const Answer answer = typed(line);
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    const Json result = Json::parse(answer.out);
    EXPECT_EQ(result["stream"]["frames"], 4);
    EXPECT_LE(result["stream"]["interval_cycles"], result["cycles"]);
    EXPECT_THAT(answer.err, HasSubstr("4 frames as a stream"));
    return result;
}

TEST(Stream, OfATableIsSimulated) {
    const Json result = stream_of({"lenet", "--npu", "nv_small"});
    const Json& stream = result["stream"];
    EXPECT_EQ(stream["simulated"], true);
    EXPECT_EQ(stream["host_cycles"], 0);
    EXPECT_LT(stream["interval_cycles"], result["cycles"]);
}

TEST(Stream, OfAModelCountsTheHostBesideTheNpu) {
    const std::string model = std::string(NPUSCOPE_SOURCE) + "/examples/digits/digits.onnx";
    for (const std::string npu : {"nv_small", "tinpu_f28p55"}) {
        const Json result = stream_of({model, "--npu", npu});
        const Json& stream = result["stream"];
        EXPECT_EQ(stream["simulated"], npu == "nv_small");
        EXPECT_EQ(stream["host_cycles"], result["host"]["cycles"]);
        EXPECT_GE(stream["interval_cycles"], stream["host_cycles"]);
        EXPECT_GE(stream["latency_cycles"], stream["interval_cycles"]);
    }
}

TEST(Stream, NeedsANetworkAndTwoFrames) {
    const std::string program =
        std::string(NPUSCOPE_SOURCE) + "/tests/golden/rtl_image_blocks/one_output/program.cfg";
    EXPECT_THAT(typed({"run", program, "--stream", "2"}).err, HasSubstr("is not a network"));
    EXPECT_EQ(typed({"run", "lenet", "--stream", "1"}).code, ExitCode::WrongInput);
    const TempFolder folder;
    const std::string experiment = (folder / "e.yaml").string();
    std::ofstream(experiment) << "program: lenet\nrun: {stream: 1}\n";
    EXPECT_EQ(typed({"run", experiment}).err,
              "npuscope: run.stream is 1: a stream has at least 2 frames (2 or more, or 0 for no "
              "stream)\n");
    EXPECT_THAT(typed({"run", "lenet", "--stream", "2", "--instances", "2"}).err,
                HasSubstr("--stream supports a single instance only"));
    EXPECT_THAT(typed({"run", "lenet", "--beside", "lenet", "--stream", "3"}).err,
                HasSubstr("--stream supports a single program only (leave out --beside)"));
}

}  // namespace
}  // namespace npuscope
