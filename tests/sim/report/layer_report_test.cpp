// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "sim/model/prepare_graph.h"
#include "sim/report/reports.h"
#include "tests/sim/compile/tinpu/layer_fixture.h"

namespace npuscope::layer_report_test {
namespace {

using Json = nlohmann::json;

/// The first layer runs on the host, for it has 6 kernels.
constexpr const char* table = R"(
name: mixed
input: {channels: 4, height: 12, width: 12}
layers:
  - {name: left, kind: conv, kernels: 6, relu: true}
  - {name: pooled, kind: avg_pool, kernel: 12}
  - {name: wide, kind: fc, kernels: 8}
)";

struct Reported {
    Graph graph = finish_graph(network_graph(parse_network(table, "net.yaml")));
    LayerNpuConfig npu = test::bundled_preset();

    Result result() const {
        return test::run_plan(graph, plan_layers(graph, npu), npu, nullptr, {.timeline = true})
            .result;
    }
};

std::uint64_t sum(const Json& numbers) {
    return std::accumulate(
        numbers.begin(), numbers.end(), std::uint64_t{0},
        [](std::uint64_t all, const Json& one) { return all + one.get<std::uint64_t>(); });
}

TEST(LayerReport, CausesOfALayerAreAllOfItsCycles) {
    const Reported reported;
    const Json report = Json::parse(json_report(reported.result()));
    std::size_t on_npu = 0;
    for (const Json& operation : report["operations"]) {
        EXPECT_EQ(sum(operation["causes"]), operation["cycles"]) << operation;
        on_npu += operation["unit"] == "tinpu" ? 1U : 0U;
    }
    EXPECT_GT(on_npu, 0U);
    EXPECT_LT(on_npu, report["operations"].size());
    EXPECT_EQ(report["units"]["host"]["busy"], report["host"]["cycles"]);
    EXPECT_GT(report["units"]["tinpu"]["busy"], 0U);
    EXPECT_EQ(report["simulated_cycles"], report["cycles"]);
}

TEST(LayerReport, ClientsShareAllOfTheTraffic) {
    const Reported reported;
    const Json traffic = Json::parse(json_report(reported.result()))["traffic"];
    std::uint64_t read = 0;
    std::uint64_t written = 0;
    for (const auto& [name, client] : traffic["by_client"].items()) {
        read += client["read_bytes"].get<std::uint64_t>();
        written += client["write_bytes"].get<std::uint64_t>();
    }
    EXPECT_EQ(read, traffic["read_bytes"]);
    EXPECT_EQ(written, traffic["write_bytes"]);
    EXPECT_GT(traffic["by_client"]["tinpu_weights"]["read_bytes"], 0U);
}

TEST(LayerReport, MapsThatDoNotFitAreAFinding) {
    Reported reported;
    EXPECT_TRUE(Json::parse(json_report(reported.result()))["findings"].empty());
    reported.npu.engine.memory = Bytes(4);
    const Json findings = Json::parse(json_report(reported.result()))["findings"];
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(findings[0]["id"], "memory_size");
}

TEST(LayerTimeline, ShowsEveryOperationAndThePartsOfLayers) {
    const Result result = Reported().result();
    const Json events = Json::parse(timeline_report(result))["traceEvents"];
    std::map<std::string, std::string> lanes;  // by process and thread
    std::map<std::string, std::uint64_t> cycles;
    const auto place = [](const Json& event) {
        return event["pid"].dump() + "." + event["tid"].dump();
    };
    for (const Json& event : events) {
        if (event["name"] == "thread_name") {
            lanes[place(event)] = event["args"]["name"];
        }
    }
    for (const Json& event : events) {
        if (event["ph"] == "X") {
            cycles[lanes.at(place(event))] += event["dur"].get<std::uint64_t>();
        }
    }
    EXPECT_EQ(cycles.at("tinpu"), test::npu_cycles(result).value);
    EXPECT_EQ(cycles.at("host"), result.model->host.cycles.value);
    EXPECT_EQ(cycles.at("host.operator"), result.model->host.cycles.value);
    EXPECT_GT(cycles.at("tinpu.weights"), 0U);
    EXPECT_GT(cycles.at("tinpu.set_up"), 0U);
}

}  // namespace
}  // namespace npuscope::layer_report_test
