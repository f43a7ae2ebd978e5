// SPDX-License-Identifier: Apache-2.0
// What memory, queues and limits do to whole models.
#include "sim/run/layer_machine.h"

#include <gmock/gmock.h>
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
    LayerSystem system = read_layer_system(configs_folder(), "tinpu_f28p55");

    void limit_maps(Bytes bytes) {
        system.memory.regions[1].size = bytes;
        system.memory.regions[1].surfaces = bytes;
    }
    LayerRun run(const LayerRunOptions& options = {.values = false}) const {
        const LayerPlan plan = plan_layers(graph, system.npu, system.memory);
        const auto inputs = options.values ? test::some_inputs(graph, ElementType::Int8, 1)
                                           : std::map<std::string, GraphValue>{};
        return run_layers(graph, plan, system.npu, inputs, options);
    }
};

std::set<std::string> kinds_of(const LayerRun& run) {
    std::set<std::string> kinds;
    for (const Diagnostic& finding : run.findings) {
        EXPECT_TRUE(finding.address.has_value()) << finding.id;
        EXPECT_FALSE(finding.surface.empty()) << finding.id;
        EXPECT_FALSE(finding.operation.empty()) << finding.id;
        kinds.insert(finding.id);
    }
    return kinds;
}

TEST(LayerMachine, SlowerMemoryMakesSlowerLayers) {
    Chain chain;
    Cycles before = chain.run().cycles();
    for (const std::uint64_t latency : {50U, 200U, 1000U}) {
        chain.system.memory.read_latency = Cycles(latency);
        const Cycles cycles = chain.run().cycles();
        EXPECT_GT(cycles, before + Cycles(3 * 3 * latency / 2));  // per layer: weights, input, end
        before = cycles;
    }
    chain.system.memory.beat_interval = Cycles(200);
    const LayerRun narrow = chain.run();
    EXPECT_GT(narrow.cycles(), before);
    std::uint64_t beats = 0;
    for (const NamedTraffic& client : narrow.traffic) {
        beats += client.traffic.read_beats;
    }
    EXPECT_GT(narrow.cycles(), Cycles(200 * beats));
    EXPECT_EQ(narrow.operations.back().bound_by(), "memory");
}

TEST(LayerMachine, QueuesAndBuffersOverlapLayers) {
    Chain chain;
    const LayerRun plain = chain.run({});
    chain.system.npu.engine.launch_queue = 2;
    const LayerRun queued = chain.run({});
    EXPECT_LT(queued.cycles(), plain.cycles());
    chain.system.npu.engine.weight_buffers = 2;
    const LayerRun ahead = chain.run({});
    EXPECT_LT(ahead.cycles(), queued.cycles());
    EXPECT_EQ(ahead.operations[1].causes[Cause::WeightFetch], Cycles(0));
    EXPECT_EQ(plain.outputs, queued.outputs);
    EXPECT_EQ(plain.outputs, ahead.outputs);
    EXPECT_TRUE(ahead.findings.empty());
}

TEST(LayerMachine, AMapWithoutRoomIsAFindingWithItsPlace) {
    Chain chain;
    chain.limit_maps(Bytes(4096));
    const LayerRun run = chain.run({});
    EXPECT_EQ(run.status(), RunStatus::Fail);
    EXPECT_EQ(kinds_of(run), (std::set<std::string>{"memory_room", "outside_memory"}));
    EXPECT_THAT(run.findings.front().sentence, HasSubstr("region 'ram'"));
}

TEST(LayerMachine, WeightsWithoutRoomAreAFindingWithTheirPlace) {
    Chain chain;
    chain.system.memory.regions[0].size = Bytes(64);
    const LayerRun run = chain.run({});
    EXPECT_EQ(kinds_of(run), (std::set<std::string>{"memory_room", "outside_memory"}));
    EXPECT_EQ(run.findings.front().surface, "weights");
    EXPECT_EQ(run.findings.front().operation, "first");
}

TEST(LayerMachine, WhatFitsExactlyIsNone) {
    Chain chain;
    const LayerPlan plan = plan_layers(chain.graph, chain.system.npu, chain.system.memory);
    chain.system.memory.regions[0].size = plan.weights;
    chain.limit_maps(plan.peak_maps);
    EXPECT_EQ(chain.run({}).status(), RunStatus::Pass);
    chain.system.memory.regions[1].surfaces = plan.peak_maps - Bytes(1);
    EXPECT_EQ(kinds_of(chain.run({})), (std::set<std::string>{"memory_room"}));
}

TEST(LayerMachine, ARegionOffTheGridIsAFinding) {
    Chain chain;
    chain.system.memory.regions[1].base = Address(0x50000002);
    const LayerRun run = chain.run({});
    EXPECT_EQ(run.status(), RunStatus::Fail);
    EXPECT_EQ(kinds_of(run), (std::set<std::string>{"misaligned"}));
    EXPECT_EQ(run.outputs, Chain().run({}).outputs);
}

TEST(LayerMachine, TheLimitOfCyclesStopsTheMachine) {
    const Chain chain;
    try {
        chain.run({.values = false, .max_cycles = Cycles(3000)});
        FAIL() << "it ran on";
    } catch (const MachineStopped& stopped) {
        EXPECT_THAT(stopped.what(), HasSubstr("cycle limit at cycle"));
        EXPECT_THAT(stopped.what(), HasSubstr("the host waits for layer 'first'"));
    }
    EXPECT_EQ(chain.run().status(), RunStatus::Pass);  // another machine may follow
}

TEST(LayerMachine, AMemoryWithoutRegionsIsRefused) {
    Chain chain;
    chain.system.memory.regions.clear();
    EXPECT_THROW(chain.run(), ConfigError);
}

}  // namespace
}  // namespace npuscope
