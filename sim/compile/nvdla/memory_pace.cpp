// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/memory_pace.h"

#include <algorithm>
#include <cmath>

namespace npuscope {
namespace {

constexpr std::uint64_t slowest = 1'000'000;  // cycles a beat, as of memory.beat_interval

/// Of a read that finds its row closed.
Cycles latency_of(const DramConfig& dram, Hertz npu_clock) {
    const Clocks clocks = dram.timing.t_rcd + dram.timing.cl + dram.timing.data_delay;
    const double cycles = static_cast<double>(clocks.value) * static_cast<double>(npu_clock.value) /
                          static_cast<double>(std::max<std::uint64_t>(dram.clock.value, 1));
    return dram.controller_latency + Cycles(static_cast<std::uint64_t>(std::llround(cycles)));
}

}  // namespace

const MemoryRegionConfig* sram_region(const MemoryConfig& memory) {
    const auto found = std::find_if(memory.regions.begin() + (memory.regions.empty() ? 0 : 1),
                                    memory.regions.end(), [](const MemoryRegionConfig& region) {
                                        return region.surfaces.value_or(Bytes(0)) > Bytes(0);
                                    });
    return found == memory.regions.end() ? nullptr : &*found;
}

MemoryPace pace_of(const MemoryRegionConfig& region, const MemoryConfig& memory,
                   const NpuConfig& npu) {
    const Cycles interval = region.beat_interval.value_or(memory.beat_interval);
    MemoryPace pace{.interval_256 = std::max<std::uint64_t>(interval.value, 1) * 256,
                    .latency = region.dram ? latency_of(*region.dram, npu.clock)
                                           : region.read_latency.value_or(memory.read_latency)};
    if (const auto peak = region.peak()) {
        const double bus =
            static_cast<double>(npu.mcif.bus_width.value) * static_cast<double>(npu.clock.value);
        const double interval_256 = std::ceil(bus / *peak * 256);
        const auto shared = static_cast<std::uint64_t>(std::min(interval_256, slowest * 256.0));
        pace.shared_256 = 2 * shared > pace.interval_256 ? shared : 0;
        pace.interval_256 = std::max(pace.interval_256, shared);
    }
    return pace;
}

}  // namespace npuscope
