// SPDX-License-Identifier: Apache-2.0
#include "sim/report/energy_report.h"

#include <gmock/gmock-matchers.h>

#include "tests/sim/run/sample_result.h"

namespace npuscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

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
    EXPECT_THAT(energy_line(estimate), HasSubstr("1.68 uJ"));
    EXPECT_THAT(energy_line(estimate), HasSubstr("not included: mac int16, cacc update"));
    EXPECT_EQ(energy_json(estimate)["parts"].size(), 3U);
}

TEST(EnergyReport, AccelergyReadsTheCounts) {
    EXPECT_THAT(action_counts_yaml(counted()),
                HasSubstr("    - name: npu.mac\n      action_counts:\n        - name: int8\n"
                          "          counts: 1000000\n"));
}

}  // namespace
}  // namespace npuscope
