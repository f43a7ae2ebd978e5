// SPDX-License-Identifier: Apache-2.0
// What memory, queues and limits do to whole models.
#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

#include "sim/model/prepare_graph.h"
#include "tests/sim/compile/tinpu/layer_fixture.h"

namespace npuscope {
namespace {

using ::testing::HasSubstr;

constexpr const char* table = R"(
name: chain
input: {channels: 4, height: 16, width: 16}
layers:
  - {name: first, kind: conv, kernels: 16, kernel: 3, padding: 1, relu: true}
  - {name: second, kind: conv, kernels: 16, kernel: 3, padding: 1, relu: true}
  - {name: third, kind: conv, kernels: 8, kernel: 1, relu: true}
)";

struct Chain {
    Graph graph = finish_graph(network_graph(parse_network(table, "chain.yaml")));
    LayerNpuConfig npu = test::bundled_preset();
    MemoryConfig memory =
        read_preset<MemoryConfig>(find_preset(configs_folder(), "memory", npu.memory));

    void limit_maps(Bytes bytes) {
        memory.regions[1].size = bytes;
        memory.regions[1].surfaces = bytes;
    }
    ModelResult run_with_outputs(const RunOptions& options) const {
        const LayerPlan plan = plan_layers(graph, npu, memory);
        const auto inputs = test::some_inputs(graph, ElementType::Int8, 1);
        return test::run_plan(graph, plan, npu, options.values ? &inputs : nullptr, options);
    }
    Result run(const RunOptions& options = {.values = false}) const {
        return run_with_outputs(options).result;
    }
};

std::set<std::string> kinds_of(const Result& run) {
    std::set<std::string> kinds;
    for (const Diagnostic& finding : run.findings) {
        EXPECT_TRUE(finding.address.has_value()) << finding.id;
        EXPECT_FALSE(finding.surface.empty()) << finding.id;
        EXPECT_FALSE(finding.operation.empty()) << finding.id;
        kinds.insert(finding.id);
    }
    return kinds;
}

TEST(LayerMemory, SlowerMemoryMakesSlowerLayers) {
    Chain chain;
    Cycles before = chain.run().cycles;
    for (const std::uint64_t latency : {50U, 200U, 1000U}) {
        chain.memory.read_latency = Cycles(latency);
        const Cycles cycles = chain.run().cycles;
        EXPECT_GT(cycles, before + Cycles(3 * 3 * latency / 2));  // per layer: weights, input, end
        before = cycles;
    }
    chain.memory.beat_interval = Cycles(200);
    const Result narrow = chain.run();
    EXPECT_GT(narrow.cycles, before);
    std::uint64_t beats = 0;
    for (const NamedTraffic& client : narrow.traffic) {
        beats += client.traffic.read_beats;
    }
    EXPECT_GT(narrow.cycles, Cycles(200 * beats));
    EXPECT_EQ(narrow.operations.back().causes.largest(), "memory");
}

TEST(LayerMemory, QueuesAndBuffersOverlapLayers) {
    Chain chain;
    const ModelResult plain = chain.run_with_outputs({});
    chain.npu.engine.launch_queue = 2;
    const ModelResult queued = chain.run_with_outputs({});
    EXPECT_LT(queued.result.cycles, plain.result.cycles);
    chain.npu.engine.weight_buffers = 2;
    const ModelResult ahead = chain.run_with_outputs({});
    EXPECT_LT(ahead.result.cycles, queued.result.cycles);
    EXPECT_EQ(ahead.result.operations[1].causes[Cause::WeightFetch], Cycles(0));
    EXPECT_EQ(plain.outputs, queued.outputs);
    EXPECT_EQ(plain.outputs, ahead.outputs);
    EXPECT_TRUE(ahead.result.findings.empty());
}

TEST(LayerMemory, AMapWithoutRoomIsAFindingWithItsPlace) {
    Chain chain;
    chain.limit_maps(Bytes(4096));
    const Result run = chain.run({});
    EXPECT_EQ(run.status(), RunStatus::Fail);
    EXPECT_EQ(kinds_of(run), (std::set<std::string>{"memory_room", "outside_memory"}));
    EXPECT_THAT(run.findings.front().sentence, HasSubstr("region 'ram'"));
}

TEST(LayerMemory, WeightsWithoutRoomAreAFindingWithTheirPlace) {
    Chain chain;
    chain.memory.regions[0].size = Bytes(64);
    const Result run = chain.run({});
    EXPECT_EQ(kinds_of(run), (std::set<std::string>{"memory_room", "outside_memory"}));
    EXPECT_EQ(run.findings.front().surface, "weights");
    EXPECT_EQ(run.findings.front().operation, "first");
}

TEST(LayerMemory, WhatFitsExactlyIsNone) {
    Chain chain;
    const LayerPlan plan = plan_layers(chain.graph, chain.npu, chain.memory);
    chain.memory.regions[0].size = plan.weights;
    chain.limit_maps(plan.peak_maps);
    EXPECT_EQ(chain.run({}).status(), RunStatus::Unchecked);
    chain.memory.regions[1].surfaces = plan.peak_maps - Bytes(1);
    EXPECT_EQ(kinds_of(chain.run({})), (std::set<std::string>{"memory_room"}));
}

TEST(LayerMemory, ARegionOffTheGridIsUsedFromItsFirstMultiple) {
    Chain chain;
    for (const std::size_t region : {0U, 1U}) {
        chain.memory.regions[region].base = chain.memory.regions[region].base + Bytes(2);
        const ModelResult run = chain.run_with_outputs({});
        EXPECT_EQ(run.result.status(), RunStatus::Unchecked);
        EXPECT_EQ(kinds_of(run.result), std::set<std::string>{});
        EXPECT_EQ(run.outputs, Chain().run_with_outputs({}).outputs);
        EXPECT_EQ(plan_layers(chain.graph, chain.npu, chain.memory).weights,
                  plan_layers(chain.graph, chain.npu, Chain().memory).weights);
    }
}

TEST(LayerMemory, ASurfaceOffTheGridIsAFinding) {
    Chain chain;
    LayerPlan plan = plan_layers(chain.graph, chain.npu, chain.memory);
    for (auto& [tensor, base] : plan.maps) {
        base = base + Bytes(2);
    }
    const auto inputs = test::some_inputs(chain.graph, ElementType::Int8, 1);
    const ModelResult run = test::run_plan(chain.graph, plan, chain.npu, &inputs, {});
    EXPECT_EQ(run.result.status(), RunStatus::Fail);
    EXPECT_EQ(kinds_of(run.result), (std::set<std::string>{"misaligned"}));
    EXPECT_EQ(run.outputs, Chain().run_with_outputs({}).outputs);
}

TEST(LayerMemory, TheLimitOfCyclesStopsTheMachine) {
    const Chain chain;
    try {
        chain.run({.max_cycles = Cycles(3000), .values = false});
        FAIL() << "it ran on";
    } catch (const MachineStopped& stopped) {
        EXPECT_THAT(stopped.what(), HasSubstr("cycle limit at cycle"));
        EXPECT_THAT(stopped.what(), HasSubstr("the host waits for layer 'first'"));
    }
    EXPECT_EQ(chain.run().status(), RunStatus::Unchecked);  // another machine may follow
}

TEST(LayerMemory, AMemoryWithoutRegionsIsRefused) {
    Chain chain;
    chain.memory.regions.clear();
    EXPECT_THROW(chain.run(), ConfigError);
}

}  // namespace
}  // namespace npuscope
