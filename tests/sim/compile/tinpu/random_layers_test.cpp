// SPDX-License-Identifier: Apache-2.0
// Random layers of every pattern on random machines: whatever memory, buffers and queues are like,
// the unit leaves the values of the host's reference operators, and causes add up to all cycles.
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tests/sim/compile/tinpu/layer_fixture.h"

namespace npuscope {
namespace {

using test::ModelBuilder;

class Dice {
 public:
    explicit Dice(unsigned seed) : engine_(seed) {}
    std::uint32_t between(std::uint32_t low, std::uint32_t high) {
        return low + static_cast<std::uint32_t>(engine_() % (high - low + 1));
    }

 private:
    std::mt19937 engine_;
};

ModelBuilder random_convolution(Dice& dice, std::int64_t channels, bool depthwise) {
    test::ConvShape shape;
    shape.channels = channels;
    shape.kernels = depthwise ? channels : 4 * dice.between(1, 5);
    shape.groups = depthwise ? channels : 1;
    shape.rows = dice.between(channels == 1 ? 2 : 1, 5);  // 1x1 takes channels in fours
    shape.columns = dice.between(1, 5);
    shape.padding = dice.between(0, 2);
    shape.stride = dice.between(1, 3);
    shape.height = shape.rows + dice.between(0, 12);
    shape.width = shape.columns + dice.between(0, 12);
    const bool wide = dice.between(0, 1) == 1;
    shape.weight_low = wide ? -128 : -2;
    shape.weight_high = wide ? 127 : 1;
    test::Sequence sequence;
    if (wide) {
        sequence.scale = {1};
    }
    return test::conv_model(shape, sequence);
}

ModelBuilder random_model(Dice& dice, unsigned kind) {
    switch (kind) {
        case 0:
            return random_convolution(dice, 1, false);
        case 1:
            return random_convolution(dice, 4 * dice.between(1, 4), false);
        case 2:
            return random_convolution(dice, 4 * dice.between(1, 6), true);
        case 3:
            return test::residual_model({});
        case 4:
            return test::transposed_model({});
        case 5:
            return test::fc_model({}, dice.between(16, 300), dice.between(1, 40));
        case 6:
            return test::max_pool_model(dice.between(1, 4), dice.between(1, 3));
        case 7:
            return test::average_pool_model({});
        default:
            return test::global_pool_model({});
    }
}

LayerNpuConfig random_npu(Dice& dice) {
    LayerNpuConfig config = test::bundled_preset();
    config.mcif.bus_width = Bytes(1ULL << dice.between(0, 4));
    config.mcif.outstanding_reads = dice.between(1, 32);
    config.engine.read_buffer = Bytes(1ULL << dice.between(0, 11));
    config.engine.weight_buffers = dice.between(1, 3);
    config.engine.launch_queue = dice.between(1, 3);
    config.engine.input_lanes = dice.between(1, 8);
    config.engine.layer_overhead = Cycles(dice.between(0, 100));
    return config;
}

MemoryConfig random_memory(Dice& dice) {
    MemoryConfig memory;
    memory.read_latency = Cycles(dice.between(0, 150));
    memory.beat_interval = Cycles(dice.between(1, 9));
    return memory;
}

void expect_consistent(const Result& run) {
    EXPECT_TRUE(run.findings.empty());
    EXPECT_EQ(run.simulated_cycles, run.cycles);
    Cycles end;
    for (const OperationRecord& operation : run.operations) {
        EXPECT_EQ(std::accumulate(operation.causes.cycles.begin(), operation.causes.cycles.end(),
                                  Cycles(0)),
                  operation.cycles());
        EXPECT_EQ(operation.start, end);
        end = operation.end;
    }
    ClientTraffic moved;
    for (const NamedTraffic& client : run.traffic) {
        moved += client.traffic;
    }
    Bytes read;
    Bytes written;
    for (const OperationRecord& operation : run.operations) {
        read += operation.read;
        written += operation.written;
    }
    EXPECT_EQ(moved.read_bytes, read);
    EXPECT_EQ(moved.write_bytes, written);
}

TEST(RandomLayers, AnyMachineLeavesTheHostsNumbers) {
    for (unsigned seed = 0; seed < 180; ++seed) {
        SCOPED_TRACE(seed);
        Dice dice(seed);
        const Graph graph = test::graph_of(random_model(dice, seed % 9));
        const LayerNpuConfig config = random_npu(dice);
        const LayerPlan plan = plan_layers(graph, config, random_memory(dice));
        ASSERT_EQ(plan.partition.groups.size(), 1U)
            << ::testing::PrintToString(test::broken_rules(plan.partition));
        const auto inputs =
            test::some_inputs(graph, seed % 2 == 0 ? ElementType::Int8 : ElementType::Uint8, seed);
        const ModelResult npu = test::run_plan(graph, plan, config, &inputs);
        const ModelResult host = test::run_on(graph, test::host_only(), inputs);
        ASSERT_EQ(npu.outputs.at("y").numbers, host.outputs.at("y").numbers);
        expect_consistent(npu.result);
        const ModelResult timed = test::run_plan(graph, plan, config, nullptr);
        EXPECT_EQ(timed.result.cycles, npu.result.cycles);
        expect_consistent(timed.result);
    }
}

}  // namespace
}  // namespace npuscope
