// SPDX-License-Identifier: Apache-2.0
// Between the NPU's clock and a memory's: an event of one side is seen at the first edge of the
// other that does not lie before it. Both clocks have an edge at time 0. Integers only.
#pragma once

#include "models/base/error.h"
#include "models/memory/dram_config.h"

namespace npuscope {

class ClockCrossing {
 public:
    ClockCrossing(Hertz npu, Hertz memory) : npu_(npu.value), memory_(memory.value) {
        constexpr std::uint64_t fastest = std::uint64_t{1} << 32;
        if (npu_ == 0 || memory_ == 0 || npu_ >= fastest || memory_ >= fastest) {
            throw ConfigError("a DRAM and its NPU have clocks between 1 Hz and 4 GHz",
                              "mend dram.clock or npu.clock");
        }
    }

    Clocks to_memory(Cycles time) const { return Clocks(scale(time.value, memory_, npu_)); }
    Cycles to_npu(Clocks time) const { return Cycles(scale(time.value, npu_, memory_)); }

 private:
    /// time * to / from, rounded up, without overflow.
    static std::uint64_t scale(std::uint64_t time, std::uint64_t to, std::uint64_t from) {
        return time / from * to + divide_up(time % from * to, from);
    }

    std::uint64_t npu_;
    std::uint64_t memory_;
};

}  // namespace npuscope
