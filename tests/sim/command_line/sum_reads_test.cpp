// SPDX-License-Identifier: Apache-2.0
// `--sums once|twice`: how often the sum of two maps of different scales reads one of them.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "sim/config/yaml_reader.h"
#include "tests/sim/command_line/typed.h"
#include "tests/sim/run/quantised_model.h"
#include "tests/support/temp_folder.h"

namespace npuscope::sum_reads_test {
namespace {

namespace fs = std::filesystem;
using sample::Answer;
using ::testing::HasSubstr;

Answer typed(const std::vector<std::string>& arguments) {
    return sample::typed(arguments, {run_command(), plan_command()});
}

/// y = a + b of 16 channels, each of the three with its own scale and zero point.
class SumReads : public ::testing::Test {
 protected:
    void SetUp() override {
        test::QuantisedModel model(5, true);
        const std::string a = model.input("a", {1, 16, 9, 9});
        model.builder.output(model.sum("y", a, model.input("b", {1, 16, 9, 9})));
        std::ofstream(path_, std::ios::binary) << model.builder.bytes();
        for (const int name : {0, 1}) {
            GraphValue input = zeros({ElementType::Int8, {1, 16, 9, 9}});
            for (std::size_t i = 0; i < input.numbers.size(); ++i) {
                input.numbers[i] = static_cast<double>((i * (name == 0 ? 37 : 101)) % 256) - 128;
            }
            fs::create_directories(folder_ / "in");
            std::ofstream(folder_ / (name == 0 ? "in/a.npy" : "in/b.npy"), std::ios::binary)
                << npy_bytes(input);
        }
    }

    /// Bytes that the run reads; every layer is compared with the model's operators.
    std::uint64_t bytes_read(const std::string& sums) const {
        const Answer answer = typed({"run", path_, "--npu", "nv_full", "--sums", sums, "--inputs",
                                     (folder_ / "in").string(), "--compare-layers", "--json", "-"});
        EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
        const ConfigNode result = parse_yaml(answer.out, "result.json");
        EXPECT_EQ(result.find("status")->text, "pass");
        return std::stoull(result.find("traffic")->find("read_bytes")->text);
    }

    const TempFolder folder_;
    const std::string path_ = (folder_ / "sum.onnx").string();
};

TEST_F(SumReads, TwiceReadsOneMapOnceMore) {
    const std::uint64_t map = std::uint64_t{32} * 9 * 9;  // 16 channels are one atom of 32 bytes
    EXPECT_EQ(bytes_read("twice"), bytes_read("once") + map);
}

TEST_F(SumReads, OfALoadableAreThoseThatDescriptorsCanSay) {
    const auto planned = [&](const char* sums) {
        return typed({"plan", path_, "--npu", "nv_full", "--sums", sums, "--loadable",
                      (folder_ / "sum.fbuf").string()});
    };
    const Answer once = planned("once");
    EXPECT_EQ(once.code, ExitCode::Good) << once.err;
    const Answer twice = planned("twice");
    EXPECT_EQ(twice.code, ExitCode::WrongInput);
    EXPECT_THAT(twice.err, HasSubstr("SDP_RDMA.D_BRDMA_CFG_0"));
}

TEST_F(SumReads, OfATinpuAreThoseOfALayersMap) {
    test::QuantisedModel model(5, true);
    model.builder.output(model.conv("y", model.input("x", 12, 9), 12, 20, 3));
    const std::string path = (folder_ / "conv.onnx").string();
    std::ofstream(path, std::ios::binary) << model.builder.bytes();
    const auto cycles = [&](const char* sums) {
        const Answer answer = typed({"run", path, "--npu", "tinpu_f28p55", "--values", "off",
                                     "--sums", sums, "--json", "-"});
        EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
        return std::stoull(parse_yaml(answer.out, "result.json").find("cycles")->text);
    };
    EXPECT_GT(cycles("twice"), cycles("once") * 3 / 2);
}

TEST_F(SumReads, AreRefusedWhereNoStageAddsMaps) {
    const Answer answer =
        typed({"run", path_, "--npu", "nv_small", "--set", "npu.sdp.bn=false", "--sums", "twice"});
    EXPECT_EQ(answer.code, ExitCode::WrongInput);
    EXPECT_THAT(answer.err, HasSubstr("cannot read a map twice for a sum"));
}

}  // namespace
}  // namespace npuscope::sum_reads_test
