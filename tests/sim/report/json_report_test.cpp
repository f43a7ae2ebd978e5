// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/report/reports.h"
#include "tests/sim/run/sample_result.h"

namespace npuscope {
namespace {

using Json = nlohmann::ordered_json;

TEST(JsonReport, HasTheKeysOfTheContractInTheirOrder) {
    const Json report = Json::parse(json_report(sample::result()));
    std::vector<std::string> keys;
    for (const auto& [key, value] : report.items()) {
        keys.push_back(key);
    }
    EXPECT_EQ(keys, (std::vector<std::string>{
                        "version", "command", "npu", "program", "status", "values", "cycles",
                        "simulated_cycles", "microseconds", "wall_seconds", "checks", "traffic",
                        "ports", "layers", "operations", "units", "findings", "config"}));
}

TEST(JsonReport, ValuesAreThoseOfTheResult) {
    const Json report = Json::parse(json_report(sample::result()));
    EXPECT_EQ(report["npu"], "nv_small");
    EXPECT_EQ(report["status"], "pass");
    EXPECT_EQ(report["cycles"], 54914);
    EXPECT_EQ(report["checks"].dump(),
              R"([{"kind":"crc32","address":"0x90000000","bytes":5376,"expected":"0x8c467827",)"
              R"("actual":"0x8c467827","pass":true,"made":true,"place":"dc/p.cfg:210:1"}])");
    EXPECT_EQ(report["traffic"].dump(),
              R"({"read_bytes":8000,"write_bytes":5376,"read_beats":1000,"write_beats":672,)"
              R"("by_client":{"cdma_dat":{"read_bytes":8000,"write_bytes":0,"read_beats":1000,)"
              R"("write_beats":0},"sdp":{"read_bytes":0,"write_bytes":5376,"read_beats":0,)"
              R"("write_beats":672}}})");
    EXPECT_EQ(report["units"].dump(), R"({"cdma":{"busy":100,"starved":20,"blocked":3}})");
    const Json& operation = report["operations"][0];
    EXPECT_EQ(operation["index"], 0);
    EXPECT_EQ(operation["cycles"], 53900);
    EXPECT_EQ(operation["mac_utilisation"], 0.5);
    EXPECT_EQ(operation["bound_by"], "mac");
    EXPECT_EQ(operation["causes"]["sdp_drain"], 13900);
    EXPECT_EQ(report["findings"][0]["address"], "0x80000010");
    EXPECT_EQ(report["findings"][0]["severity"], "warning");
    EXPECT_EQ(report["config"]["memory"]["read_latency"], 50);
    EXPECT_EQ(report["config"]["npu"]["name"], "nv_small");
}

TEST(JsonReport, SkippedCheckNeitherPassesNorFails) {
    Result result = sample::result();
    result.values = false;
    result.checks[0].skipped = true;
    result.checks[0].actual = "skipped";
    const Json report = Json::parse(json_report(result));
    EXPECT_EQ(report["values"], "off");
    EXPECT_EQ(report["checks"][0]["actual"], "skipped");
    EXPECT_TRUE(report["checks"][0]["pass"].is_null());
}

TEST(JsonReport, EmptyResultIsStillWhole) {
    const Json report = Json::parse(json_report(Result{}));
    EXPECT_TRUE(report["checks"].is_array());
    EXPECT_TRUE(report["units"].is_object());
    EXPECT_TRUE(report["traffic"]["by_client"].is_object());
}

TEST(JsonReport, DramsCountUnderTheirRegionsName) {
    Result result = sample::result();
    DramStatistics counted;
    counted.row_hits = 7;
    result.drams.push_back({"lpddr", counted});
    EXPECT_EQ(Json::parse(json_report(result))["drams"]["lpddr"]["row_hits"], 7);
}

TEST(JsonReport, ANetworksRateIsThatOfAllInputs) {
    Result result = sample::result();
    result.layers.emplace_back();
    result.batch = BatchRecord{6, Cycles(75'000), Cycles(12'500), Cycles(12'500), 4};
    EXPECT_EQ(Json::parse(json_report(result))["inputs_per_second"], 80'000);
}

TEST(JsonReport, TextThatIsNoUtf8DoesNotBreakTheReport) {
    Result result;
    result.program = "bad\xff name";
    EXPECT_TRUE(Json::accept(json_report(result)));
}

}  // namespace
}  // namespace npuscope
