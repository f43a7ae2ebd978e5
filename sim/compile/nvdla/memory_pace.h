// SPDX-License-Identifier: Apache-2.0
// How fast the memory behind a port is, as predictions of a plan see it: cycles per beat and per
// first beat. A bandwidth and the data buses of a DRAM are shared by reads and writes. Not
// considered: refreshes, open rows and turnarounds of a DRAM, drawn latencies, other instances.
#pragma once

#include <cstdint>

#include "models/memory/memory_config.h"
#include "models/npu/npu_config.h"

namespace npuscope {

struct MemoryPace {
    std::uint64_t interval_256 = 256;  ///< of beats, in 1/256 of a cycle; at least a cycle
    Cycles latency{50};   ///< from a read to its first beat, from a last write to its response
    bool shared = false;  ///< reads and writes take turns

    /// Cycles in which this many beats pass.
    std::uint64_t time_of(std::uint64_t beats) const {
        return beats * (interval_256 / 256) + divide_up(beats * (interval_256 % 256), 256);
    }
};

/// Of a region of this memory, at the NPU's clock.
MemoryPace pace_of(const MemoryRegionConfig& region, const MemoryConfig& memory,
                   const NpuConfig& npu);

}  // namespace npuscope
/// The region behind a second port that takes results of layers; nullptr if there is none.
const MemoryRegionConfig* sram_region(const MemoryConfig& memory);

