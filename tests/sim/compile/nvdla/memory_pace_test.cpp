// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/memory_pace.h"

#include <gtest/gtest.h>

#include "sim/compile/nvdla/network_planner.h"
#include "tests/sim/compile/nvdla/sample_networks.h"

namespace npuscope {
namespace {

/// Of a memory of one region, at nv_small's bus: 8 bytes a cycle of 1 GHz.
MemoryPace pace_with(void (*change)(MemoryConfig& memory, MemoryRegionConfig& region)) {
    MemoryConfig memory;
    change(memory, memory.regions.front());
    return pace_of(memory.regions.front(), memory, {});
}

TEST(MemoryPace, ARegionsOwnTimingReplacesTheMemorys) {
    const MemoryPace general = pace_with([](MemoryConfig& memory, MemoryRegionConfig&) {
        memory.beat_interval = Cycles(4);
        memory.read_latency = Cycles(70);
    });
    EXPECT_EQ(general.time_of(100), 400U);
    EXPECT_EQ(general.latency, Cycles(70));
    EXPECT_EQ(general.time_of_both(100, 90), 400U);
    const MemoryPace own = pace_with([](MemoryConfig& memory, MemoryRegionConfig& region) {
        memory.beat_interval = Cycles(4);
        region.beat_interval = Cycles(2);
        region.read_latency = Cycles(10);
    });
    EXPECT_EQ(own.time_of(100), 200U);
    EXPECT_EQ(own.latency, Cycles(10));
}

TEST(MemoryPace, ABandwidthIsSharedByReadsAndWritesAndNoFasterThanThePort) {
    const MemoryPace slow = pace_with([](MemoryConfig&, MemoryRegionConfig& region) {
        region.bandwidth = BytesPerSecond(3'200'000'000);  // 2.5 cycles a beat
    });
    EXPECT_EQ(slow.time_of(100), 250U);
    EXPECT_EQ(slow.time_of(1), 3U);
    EXPECT_EQ(slow.time_of_both(60, 40), 250U);
    const MemoryPace faster = pace_with([](MemoryConfig&, MemoryRegionConfig& region) {
        region.bandwidth = BytesPerSecond(12'800'000'000);  // 0.625 cycles a beat
    });
    EXPECT_EQ(faster.time_of(100), 100U);
    EXPECT_EQ(faster.time_of_both(100, 20), 100U);
    EXPECT_EQ(faster.time_of_both(100, 100), 125U);
}

TEST(MemoryPace, ABandwidthOfBothChannelsHasNoEffect) {
    const auto shared_256 = [](std::uint64_t bandwidth) {
        MemoryConfig memory;
        memory.regions.front().bandwidth = BytesPerSecond(bandwidth);
        return pace_of(memory.regions.front(), memory, {}).shared_256;
    };
    EXPECT_EQ(shared_256(16'000'000'000), 0U);  // 8 bytes a cycle each way
    EXPECT_GT(shared_256(15'800'000'000), 0U);
}

TEST(MemoryPace, OfADramAreTheDataBusesAndAReadOfAClosedRow) {
    const MemoryPace dram = pace_with([](MemoryConfig& memory, MemoryRegionConfig& region) {
        memory.read_latency = Cycles(500);  // not the DRAM's
        region.dram.emplace();
        region.dram->clock = Hertz(500'000'000);
        region.dram->organisation.bus_width = Bytes(2);  // 2 GB/s
    });
    EXPECT_EQ(dram.time_of(100), 400U);
    EXPECT_EQ(dram.latency, Cycles(20 + 2 * (16 + 16)));
    EXPECT_EQ(dram.time_of_both(60, 40), 400U);
}

Cycles predicted(const PlanTarget& target) {
    Cycles sum;
    for (const PlannedLayer& layer : plan_network(sample::mixed_network(), target).layers) {
        sum += layer.cut ? layer.cut->predicted : Cycles(0);
    }
    return sum;
}

TEST(MemoryPace, APlanIsPredictedWithTheMemoryOfItsRegion) {
    PlanTarget general;
    general.memory.beat_interval = Cycles(16);
    general.memory.read_latency = Cycles(300);
    PlanTarget own;
    own.memory.regions.front().beat_interval = Cycles(16);
    own.memory.regions.front().read_latency = Cycles(300);
    EXPECT_EQ(predicted(own), predicted(general));
    EXPECT_GT(predicted(own), predicted({}));

    PlanTarget shared;
    shared.memory.read_latency = Cycles(300);
    shared.memory.regions.front().bandwidth = BytesPerSecond(500'000'000);  // 16 cycles a beat
    EXPECT_GT(predicted(shared), predicted(general));  // writes take turns with reads
    shared.npu.clock = Hertz(62'500'000);
    PlanTarget slow;
    slow.memory.read_latency = Cycles(300);
    EXPECT_GE(predicted(shared), predicted(slow));  // a beat each cycle of the slower clock
    EXPECT_LT(predicted(shared), predicted(general));
}

}  // namespace
}  // namespace npuscope
