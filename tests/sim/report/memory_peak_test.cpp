// SPDX-License-Identifier: Apache-2.0
#include "sim/report/memory_peak.h"

#include <gtest/gtest.h>

#include "sim/report/verdict.h"
#include "tests/sim/run/sample_result.h"

namespace npuscope {
namespace {

constexpr const char* of_reads = "npu.mcif.bus_width, memory.beat_interval, memory.read_latency";

/// A port of 8 bytes and a clock of 1 GHz: 13,376 bytes in 54,914 cycles are 0.244 GB/s.
Result with_region(const MemoryRegionConfig& region) {
    Result result = sample::result();
    result.config.memory.regions = {region};
    return result;
}

MemoryRegionConfig shared_by_all(std::uint64_t bytes_a_second) {
    MemoryRegionConfig region;
    region.bandwidth = BytesPerSecond(bytes_a_second);
    return region;
}

TEST(MemoryPeak, IsThatOfThePortsWhereNothingIsShared) {
    Result result = with_region({});
    EXPECT_FALSE(MemoryPeak(result).shared());
    EXPECT_FALSE(MemoryPeak(result).is_saturated());
    EXPECT_EQ(MemoryPeak(result).effective(of_reads), "npu.mcif.bus_width, memory.read_latency");
    result.config.memory.read_latency = Cycles(0);
    EXPECT_EQ(MemoryPeak(result).effective(of_reads), "npu.mcif.bus_width");
    result.config.memory.regions.front().beat_interval = Cycles(4);
    EXPECT_EQ(MemoryPeak(result).effective(of_reads),
              "npu.mcif.bus_width, memory.regions[0].beat_interval");
    EXPECT_NE(verdict(result).find("0.0979 written, peak 2 each"), std::string::npos);
}

TEST(MemoryPeak, IsASharedBandwidth) {
    const Result full = with_region(shared_by_all(250'000'000));
    EXPECT_TRUE(MemoryPeak(full).is_saturated());
    EXPECT_EQ(MemoryPeak(full).effective(of_reads),
              "memory.regions[0].bandwidth, memory.read_latency");
    const std::string told = verdict(full, 1000);
    EXPECT_NE(told.find("reads and writes together: 0.244 GB/s, peak of the memory 0.25 (97.4 %)"),
              std::string::npos)
        << told;
    EXPECT_NE(told.find("what would help: a faster memory, of whose peak 97.4 % are used "
                        "(memory.regions[0].bandwidth)"),
              std::string::npos)
        << told;
    EXPECT_FALSE(MemoryPeak(with_region(shared_by_all(1'000'000'000))).is_saturated());
}

TEST(MemoryPeak, OfADramIsThatOfItsChannels) {
    MemoryRegionConfig region;
    region.dram.emplace().organisation.channels = 2;
    const Result result = with_region(region);
    EXPECT_DOUBLE_EQ(*MemoryPeak(result).shared(), 2 * 19.2e9);  // DDR4-2400, 64 bits
    EXPECT_EQ(MemoryPeak(result).effective("memory.beat_interval, memory.read_latency"),
              "memory.regions[0].dram.organisation.channels, memory.regions[0].dram.clock, "
              "memory.regions[0].dram.controller_latency");
}

TEST(MemoryPeak, IsUnknownWhereDataMayBeInSeveralRegions) {
    Result result = with_region(shared_by_all(1));
    result.config.memory.regions.emplace_back().name = "sram";
    EXPECT_FALSE(MemoryPeak(result).shared());  // a program's, which may use both
    EXPECT_EQ(MemoryPeak(result).effective(of_reads), of_reads);
    result.layers.emplace_back();
    EXPECT_TRUE(MemoryPeak(result).shared());  // a network's, of an NPU with one port
}

TEST(MemoryPeak, OfEachOfANetworksPortsIsThatOfTheRegionBehindIt) {
    Result result = with_region({});
    MemoryRegionConfig& sram = result.config.memory.regions.emplace_back();
    sram.name = "sram";
    sram.surfaces = Bytes(1 << 20);
    sram.beat_interval = Cycles(4);
    result.ports.push_back({"secondary", {Bytes(8), Bytes(0), 1, 0}, Bytes(8)});
    EXPECT_EQ(MemoryPeak(result).beat_interval("secondary"), Cycles(1));  // a program's is unknown
    result.layers.emplace_back();
    EXPECT_EQ(MemoryPeak(result).beat_interval("primary"), Cycles(1));
    EXPECT_EQ(MemoryPeak(result).beat_interval("secondary"), Cycles(4));
    result.config.memory.regions.front().beat_interval = Cycles(3);
    EXPECT_EQ(MemoryPeak(result).beat_interval("primary"), Cycles(3));
}

TEST(Verdict, NamesTheBufferThatIsTooNarrowForTheArray) {
    Result result = sample::result();
    nvdla_npu(result.config).datapath.atomic_c = 32;
    EXPECT_NE(verdict(result, 1000)
                  .find("which provide 8 of the 32 bytes that each MAC cell can "
                        "multiply in a cycle (npu.cbuf.bank_width)"),
              std::string::npos);
}

}  // namespace
}  // namespace npuscope
