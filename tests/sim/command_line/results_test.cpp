// SPDX-License-Identifier: Apache-2.0
// What results guarantee for every network on every preset: each cycle belongs to one layer and one
// cause.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "sim/config/preset.h"
#include "tests/sim/command_line/typed.h"
#include "tests/support/reference_data.h"

namespace npuscope::results_test {
namespace {

using Json = nlohmann::json;
using sample::Answer;
using sample::typed;

std::uint64_t sum(const Json& causes) {
    std::uint64_t all = 0;
    for (const Json& cycles : causes) {
        all += cycles.get<std::uint64_t>();
    }
    return all;
}

Json result_of(const std::string& network, const std::string& npu,
               const std::vector<std::string>& changes = {}) {
    const std::string path = (configs_folder() / "workload" / (network + ".yaml")).string();
    std::vector<std::string> words{"run", path, "--npu", npu, "--values", "off", "--json", "-"};
    for (const std::string& change : changes) {
        words.insert(words.end(), {"--set", change});
    }
    const Answer answer = typed(words);
    EXPECT_EQ(answer.code, ExitCode::Good) << answer.err;
    return Json::parse(answer.out);
}

void expect_sums(const Json& result) {
    std::uint64_t cycles = 0;
    std::uint64_t bytes = 0;
    for (const Json& layer : result["layers"]) {
        EXPECT_EQ(sum(layer["causes"]), layer["cycles"]) << layer["name"];
        cycles += layer["cycles"].get<std::uint64_t>();
        bytes += layer["read_bytes"].get<std::uint64_t>();
        bytes += layer["write_bytes"].get<std::uint64_t>();
    }
    for (const Json& operation : result["operations"]) {
        EXPECT_EQ(sum(operation["causes"]), operation["cycles"]) << operation["name"];
        EXPECT_EQ(sum(operation["own_causes"]), operation["own_cycles"]) << operation["name"];
    }
    EXPECT_EQ(cycles, result["cycles"]);
    const Json& traffic = result["traffic"];
    EXPECT_EQ(bytes, traffic["read_bytes"].get<std::uint64_t>() +
                         traffic["write_bytes"].get<std::uint64_t>());
}

TEST(Results, LayersSumToTheRunOnEveryPreset) {
    for (const std::string& npu : list_presets(configs_folder(), "npu")) {
        for (const char* network : {"lenet", "ds_cnn", "mobilenet_v2"}) {
            if (npu == "tinpu_f28p55" && std::string(network) == "mobilenet_v2") {
                continue;  // too large for it
            }
            SCOPED_TRACE(npu + " " + network);
            expect_sums(result_of(network, npu));
        }
    }
}

TEST(Results, SumsHoldForDesignsThatNoPresetHas) {
    // the weights after the last ones are loaded for longer than the results take to leave
    expect_sums(result_of("ds_cnn", "nv_small", {"npu.datapath.atomic_c=128"}));
    // a pooling on the fly ends before the operation that feeds it
    expect_sums(result_of("ds_cnn", "nv_small", {"npu.pdp.hand_over_lead=100"}));
    // an atom of several surfaces needs more beats than the FIFO of an operand holds
    expect_sums(result_of("resnet18", "nv_small_256", {"npu.datapath.atomic_k=16"}));
    expect_sums(result_of("lenet", "nv_small_256", {"npu.datapath.memory_atom=64 B"}));
    // a wait and a layer of many operations are no repeats of each other
    expect_sums(result_of("mobilenet_v1", "nv_full", {"npu.datapath.atomic_k=4"}));
    // lines of the pooling begin amid beats
    expect_sums(result_of("tiny_yolo", "nv_full", {"npu.pdp.read_ahead=4"}));
    expect_sums(result_of("tiny_yolo", "nv_small_256_full", {"npu.mcif.bus_width=16 B"}));
}

// Its last concatenation: the SDP takes a small map before it has ended a large one's.
TEST(Results, CausesOfOperationsThatOverlapAreNoLongerThanThey) {
    const std::filesystem::path data = reference_data(NPUSCOPE_SOURCE);
    if (data.empty()) {
        GTEST_SKIP() << "no reference data";
    }
    const std::string model = (data / "models/yolo_v5n__qdq_s8/model.onnx").string();
    const Answer answer =
        typed({"run", model, "--npu", "nv_full", "--values", "off", "--json", "-"});
    ASSERT_EQ(answer.code, ExitCode::Good) << answer.err;
    expect_sums(Json::parse(answer.out));
}

/// Data that take several reads of the buffer keep the array waiting.
TEST(Results, AnArrayIsNoFasterThanTheBufferThatFeedsIt) {
    const auto cycles = [](const std::string& channels, const std::string& width) {
        const Json result =
            result_of("resnet18", "nv_small",
                      {"npu.datapath.atomic_c=" + channels, "npu.cbuf.bank_width=" + width,
                       "npu.sdp.output_throughput=64", "npu.sdp.bs_throughput=64",
                       "npu.sdp.bn_throughput=64"});
        expect_sums(result);
        return result["cycles"].get<std::uint64_t>();
    };
    const std::uint64_t eight = cycles("8", "8");
    EXPECT_GT(eight, 2 * cycles("32", "32"));
    EXPECT_GT(cycles("32", "8"), eight * 9 / 10);
    EXPECT_GT(cycles("32", "4"), eight * 17 / 10);
}

TEST(Results, UsefulProductsAreThoseOfTheNetworkWhateverTheArrayComputes) {
    const Json small = result_of("ds_cnn", "nv_small");
    const Json large = result_of("ds_cnn", "nv_large");
    ASSERT_EQ(small["layers"].size(), large["layers"].size());
    for (std::size_t i = 0; i < small["layers"].size(); ++i) {
        EXPECT_EQ(small["layers"][i]["useful_macs"], large["layers"][i]["useful_macs"]);
        const Json& used = small["layers"][i]["mac_utilisation"];
        EXPECT_TRUE(used.is_null() || used <= 1.0) << small["layers"][i];
    }
}

TEST(Results, ArraysWorkForAsLongAsTheirOperationsSay) {
    const Json result = result_of("lenet", "nv_small");
    std::uint64_t layers = 0;
    std::uint64_t operations = 0;
    for (const Json& layer : result["layers"]) {
        layers += layer["causes"]["mac"].get<std::uint64_t>();
    }
    for (const Json& operation : result["operations"]) {
        operations += operation["causes"]["mac"].get<std::uint64_t>();
    }
    EXPECT_EQ(layers, operations);
}

}  // namespace
}  // namespace npuscope::results_test
