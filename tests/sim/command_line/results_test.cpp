// SPDX-License-Identifier: Apache-2.0
// What results guarantee for every network on every preset: each cycle belongs to one layer and one
// cause.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "sim/config/preset.h"
#include "tests/sim/command_line/typed.h"

namespace npuscope {
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

Json result_of(const std::string& network, const std::string& npu) {
    const std::string path = (configs_folder() / "workload" / (network + ".yaml")).string();
    const Answer answer = typed({"run", path, "--npu", npu, "--values", "off", "--json", "-"});
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
}  // namespace npuscope
