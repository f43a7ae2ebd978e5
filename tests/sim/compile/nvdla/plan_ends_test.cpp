// SPDX-License-Identifier: Apache-2.0
// Networks of several inputs and outputs: every input is in its own image, every output stays in
// memory until the program has ended, whatever else reads it.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/plan_files.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/config/preset.h"
#include "sim/run/session.h"
#include "tests/sim/compile/nvdla/checked_run.h"
#include "tests/sim/compile/nvdla/reference_network.h"
#include "tests/sim/message_of.h"

namespace npuscope::plan_ends_test {
namespace {

using ::testing::HasSubstr;

/// `early` and `sum` are read by others, `pooled` could be done on the fly after `sum2`.
Network forked(const std::string& outputs) {
    return parse_network(
        "name: forked\n"
        "input: {channels: 20, height: 8, width: 6}\n" +
            outputs +
            "layers:\n"
            "  - {name: early, kind: conv, from: [input], kernels: 16, kernel: 3, padding: 1}\n"
            "  - {name: second, kind: input, output: 16x8x6}\n"
            "  - {name: third, kind: input, output: 7x4x3}\n"
            "  - {name: sum, kind: add, from: [early, second], relu: true}\n"
            "  - {name: late, kind: conv, from: [sum], kernels: 16, kernel: 1}\n"
            "  - {name: sum2, kind: add, from: [late, second]}\n"
            "  - {name: deep, kind: conv, from: [sum2], kernels: 9, kernel: 3}\n"
            "  - {name: pooled, kind: max_pool, from: [deep], kernel: 2, stride: 2}\n"
            "  - {name: other, kind: conv, from: [third], kernels: 12, kernel: 1}\n"
            "  - {name: last, kind: fc, from: [pooled], kernels: 10}\n",
        "forked.yaml");
}

std::vector<std::string> outputs_of(const Plan& plan) {
    std::vector<std::string> names;
    for (const PlannedLayer& layer : plan.layers) {
        if (layer.output) {
            names.push_back(layer.name);
        }
    }
    return names;
}

/// What is where the outputs were, at the end of the program.
void expect_outputs(const Network& network, const PlanTarget& target) {
    const Plan plan = plan_network(network, target);
    const reference::Results results = reference::run_network(network, plan);
    RunOptions options;
    std::vector<std::vector<std::uint8_t>> wanted;
    for (const PlannedLayer& layer : plan.layers) {
        if (layer.output) {
            wanted.push_back(reference::bytes_of(results.at(layer.name), layer.stored));
            options.keep.push_back({layer.stored.cube.base, Bytes(wanted.back().size())});
        }
    }
    EXPECT_EQ(
        run_program(plan_program(plan), nvdla_system(target.npu, target.memory), options).kept,
        wanted)
        << target.npu.name;
}

TEST(NetworkEnds, EveryPresetReadsAllInputsAndKeepsAllOutputs) {
    const Network network = forked("outputs: [early, deep, sum, other, last]\n");
    for (const PlanTarget& target : sample::preset_targets()) {
        EXPECT_THAT(outputs_of(plan_network(network, target)),
                    ::testing::UnorderedElementsAre("early", "deep", "sum", "other", "last"));
        sample::run_checked(network, target);
        expect_outputs(network, target);
    }
}
TEST(NetworkEnds, WhatNobodyReadsIsAnOutput) {
    const Network network = forked("");
    EXPECT_THAT(outputs_of(plan_network(network, {})),
                ::testing::UnorderedElementsAre("other", "last"));
    expect_outputs(network, {});
}
TEST(NetworkEnds, OutputsLieInNoSram) {
    PlanTarget target = sample::preset_target("nv_large");
    target.memory =
        read_preset<MemoryConfig>(find_preset(configs_folder(), "memory", "dram_50_sram_4m"));
    const Plan plan = plan_network(forked("outputs: [early, sum2, last]\n"), target);
    bool any = false;
    for (const PlannedLayer& layer : plan.layers) {
        EXPECT_FALSE(layer.output && layer.stored.in_sram) << layer.name;
        any = any || layer.stored.in_sram;
    }
    EXPECT_TRUE(any);
    expect_outputs(forked("outputs: [early, sum2, last]\n"), target);
}
TEST(NetworkEnds, InputsHaveImagesOfTheirOwn) {
    const Plan plan = plan_network(forked(""), {});
    ASSERT_EQ(plan.more_inputs.size(), 2U);
    EXPECT_EQ(plan.more_inputs[1].shape, (Shape{7, 4, 3}));
    const std::string map = memory_map_yaml(plan, "nv_small");
    for (const char* image : {"name: input,", "name: second_input,", "name: third_input,"}) {
        EXPECT_THAT(map, HasSubstr(image));
    }
}

struct RefusedRow {
    const char* layers;
    const char* message;
};
class RefusedEnds : public ::testing::TestWithParam<RefusedRow> {};
TEST_P(RefusedEnds, SayWhatIsWrong) {
    const std::string text =
        std::string("name: bad\ninput: {channels: 4, height: 4, width: 4}\n") + GetParam().layers;
    EXPECT_THAT(sample::message_of([&] { plan_network(parse_network(text, "bad.yaml"), {}); }),
                HasSubstr(GetParam().message));
}
INSTANTIATE_TEST_SUITE_P(
    Rows, RefusedEnds,
    ::testing::Values(
        RefusedRow{"outputs: [b]\nlayers:\n  - {name: a, kind: conv, kernels: 4}\n",
                   "output 'b' is not a layer"},
        RefusedRow{"outputs: [i]\nlayers:\n  - {name: i, kind: input, output: 4x4x4}\n"
                   "  - {name: a, kind: conv, kernels: 4}\n",
                   "output 'i' is not a layer"},
        RefusedRow{"layers:\n  - {name: i, kind: input}\n",
                   "'i': '' is not a valid shape for an input"},
        RefusedRow{"layers:\n  - {name: i, kind: input, output: 4x4x4x4}\n",
                   "'i': '4x4x4x4' is not a valid shape for an input"},
        RefusedRow{"layers:\n  - {name: i, kind: input, output: 0x4x4}\n",
                   "'i': '0x4x4' is not a valid shape for an input"},
        RefusedRow{"layers:\n  - {name: i, kind: input, output: 4x-1x4}\n",
                   "'i': '4x-1x4' is not a valid shape for an input"},
        RefusedRow{"layers:\n  - {name: i, kind: input, output: 4x4x9000}\n"
                   "  - {name: a, kind: conv, kernels: 4}\n",
                   "4x4x9000 exceeds the register field"},
        RefusedRow{"layers:\n  - {name: i, kind: input, from: [input], output: 4x4x4}\n",
                   "it has 1 input"},
        RefusedRow{"layers:\n  - {name: i, kind: input, output: 4x4x4}\n",
                   "it has no layers that compute anything"}));

}  // namespace
}  // namespace npuscope::plan_ends_test
