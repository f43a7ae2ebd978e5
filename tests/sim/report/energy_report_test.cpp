// SPDX-License-Identifier: Apache-2.0
#include "sim/report/energy_report.h"

#include <gmock/gmock-matchers.h>

#include "tests/sim/message_of.h"
#include "tests/sim/run/sample_result.h"

namespace npuscope::energy_report_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Result counted() {
    Result result = sample::result();  // 8,000 bytes read, 5,376 written; nv_small
    result.actions = {{"mac", "int8", 1'000'000},
                      {"mac", "int16", 10},
                      {"mac", "fp16", 0},
                      {"cbuf", "read_bytes", 64'000},
                      {"cacc", "update", 5}};
    return result;
}

EnergyTable table() {
    return {"a process",
            {{"mac", "int8", {}, {}, 300},
             {"cbuf", "read_bytes", Bytes(8), Bytes(2048), 1},
             {"cbuf", "read_bytes", Bytes(8), Bytes(32768), 20'000},
             {"cbuf", "read_bytes", Bytes(8), Bytes(8192), 10'000},
             {"memory", "read_bytes", Bytes(8), {}, 1'300'000}},
            {{"mac", "int8", 419}}};
}

TEST(EnergyReport, CountsTimesTheLinesOfTheTable) {
    const EnergyEstimate estimate = estimate_energy(table(), counted());
    ASSERT_EQ(estimate.shares.size(), 3U);
    EXPECT_DOUBLE_EQ(estimate.shares[0].picojoules, 300'000);
    // a bank of nv_small has 4 KiB: the smallest line that holds it is that of 8 KiB
    EXPECT_DOUBLE_EQ(estimate.shares[1].picojoules, 80'000);
    EXPECT_DOUBLE_EQ(estimate.shares[2].picojoules, 1'300'000);
    EXPECT_DOUBLE_EQ(estimate.picojoules(), 1'680'000);
    EXPECT_DOUBLE_EQ(*estimate.mac_square_micrometres, 64 * 419);
}

TEST(EnergyReport, WhatHasNoLineIsNamed) {
    const EnergyEstimate estimate = estimate_energy(table(), counted());
    EXPECT_THAT(estimate.unknown, ElementsAre("mac int16", "cacc update", "memory write_bytes"));
    const std::string line = energy_line(estimate, counted());
    EXPECT_THAT(line, HasSubstr("1.68 uJ"));
    EXPECT_THAT(line, HasSubstr("not included: mac int16, cacc update"));
    EXPECT_THAT(line, HasSubstr("memory write_bytes, control, clocks, SDP, PDP, CDP, leakage"));
    EXPECT_EQ(energy_json(estimate)["parts"].size(), 3U);
}

TEST(EnergyReport, ALineWithoutABankIsForBanksThatNoOtherLineHolds) {
    EnergyTable general = table();
    general.actions.insert(general.actions.begin(), {"cbuf", "read_bytes", Bytes(8), {}, 300'000});
    EXPECT_DOUBLE_EQ(estimate_energy(general, counted()).shares[1].picojoules, 80'000);
    std::erase_if(general.actions,
                  [](const ActionEnergy& line) { return line.bank > Bytes(4095); });
    EXPECT_DOUBLE_EQ(estimate_energy(general, counted()).shares[1].picojoules, 2'400'000);
}

TEST(EnergyReport, MemoryOnTheChipIsAPartOfItsOwn) {
    Result result = counted();
    result.ports = {{"primary", {}, Bytes(8)}, {"secondary", {}, Bytes(8)}};
    result.ports[1].traffic.read_bytes = Bytes(6'000);
    const EnergyEstimate estimate = estimate_energy(table(), result);
    EXPECT_EQ(estimate.shares[2].count, 2'000U);
    EXPECT_THAT(estimate.unknown, testing::Contains("on_chip read_bytes"));
}

TEST(EnergyReport, TheHostsPartIsNamedAsLeftOut) {
    Result result = counted();
    result.layers = {{.name = "softmax", .on_host = true}};
    EXPECT_THAT(energy_line(estimate_energy(table(), result), result),
                HasSubstr("the host, control"));
}

std::string refusal_of(const std::string& actions) {
    return sample::message_of(
        [&] { read_energy_table("process: mine\nactions:\n" + actions, "mine.yaml"); });
}

TEST(EnergyReport, ATableGivesEachActionThatRunsCountOnce) {
    EXPECT_THAT(refusal_of("  - {part: foo, action: int8, femtojoules: 1}"),
                HasSubstr("no run counts the action 'int8' of a part 'foo'"));
    EXPECT_THAT(refusal_of("  - {part: mac, action: read_bytes, femtojoules: 1}"),
                HasSubstr("known: mac int8"));
    EXPECT_THAT(refusal_of("  - {part: mac, action: int8, femtojoules: 1}\n"
                           "  - {part: mac, action: int8, femtojoules: 2}"),
                HasSubstr("an earlier line also gives 'int8' of 'mac'"));
    EXPECT_THAT(refusal_of("  - {part: memory, action: read_bytes, bytes: 0 B, femtojoules: 1}"),
                HasSubstr("must be 1 to"));
    EXPECT_EQ(read_energy_table("process: mine\nactions:\n"
                                "  - {part: dram_dram, action: bursts, femtojoules: 1}\n"
                                "  - {part: cbuf, action: read_bytes, femtojoules: 1}\n"
                                "  - {part: cbuf, action: read_bytes, bank: 8 KiB, femtojoules: 1}",
                                "mine.yaml")
                  .actions.size(),
              3U);
}

TEST(EnergyReport, BurstsOfAllNpusAreNotPartOfOne) {
    EnergyTable priced = table();
    priced.actions.push_back({"dram_lpddr", "bursts", {}, {}, 1000});
    Result result = counted();
    result.drams = {{"lpddr", {.read_bursts = 50, .write_bursts = 10}}};
    EXPECT_DOUBLE_EQ(estimate_energy(priced, result).picojoules(), 1'680'060);
    result.instances.resize(2);
    const EnergyEstimate one = estimate_energy(priced, result);
    EXPECT_DOUBLE_EQ(one.picojoules(), 1'680'000);
    EXPECT_EQ(one.unknown.back(), "dram_lpddr");
    EXPECT_THAT(action_counts_yaml(result), Not(HasSubstr("dram_lpddr")));
}

TEST(EnergyReport, AccelergyReadsTheCounts) {
    EXPECT_THAT(action_counts_yaml(counted()),
                HasSubstr("    - name: npu.mac\n      action_counts:\n        - name: int8\n"
                          "          counts: 1000000\n"));
}

}  // namespace
}  // namespace npuscope::energy_report_test
