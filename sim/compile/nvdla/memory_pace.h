// SPDX-License-Identifier: Apache-2.0
// How fast the memory behind a port is, as predictions of a plan see it: cycles per beat and per
// first beat. A port has a channel for reads and one for writes; a bandwidth and the data buses of a
// DRAM are shared by both, which has no effect where they provide as much as both channels. Not
// considered: refreshes, open rows and turnarounds of a DRAM, drawn latencies, other instances.
#pragma once

#include <algorithm>
#include <cstdint>

#include "models/memory/memory_config.h"
#include "models/npu/npu_config.h"

namespace npuscope {

struct MemoryPace {
    std::uint64_t interval_256 = 256;  ///< of beats one way, in 1/256 of a cycle; at least a cycle
    Cycles latency{50};  ///< from a read to its first beat, from a last write to its response
    std::uint64_t shared_256 = 0;  ///< interval of reads and writes together; 0: without effect

    /// Cycles in which this many beats pass, all of them one way.
    std::uint64_t time_of(std::uint64_t beats) const { return time_of(beats, interval_256); }
    std::uint64_t time_of_both(std::uint64_t reads, std::uint64_t writes) const {
        return std::max(time_of(std::max(reads, writes)), time_of(reads + writes, shared_256));
    }

 private:
    static std::uint64_t time_of(std::uint64_t beats, std::uint64_t interval_256) {
        return beats * (interval_256 / 256) + divide_up(beats * (interval_256 % 256), 256);
    }
};

/// The region behind a second port that takes results of layers; nullptr if there is none.
const MemoryRegionConfig* sram_region(const MemoryConfig& memory);

/// Of a region of this memory, at the NPU's clock.
MemoryPace pace_of(const MemoryRegionConfig& region, const MemoryConfig& memory,
                   const NpuConfig& npu);

}  // namespace npuscope
