// SPDX-License-Identifier: Apache-2.0
// The controller between a port's beats and a DRAM's bursts: it keeps the last bursts that it read,
// so that the beats of one burst cost one burst; it gathers written bursts and writes them
// together, so that bus turnarounds are rare; a write is answered when it has been gathered, and
// waits for the previous batch if that is not yet written. A read of gathered bytes is answered
// from the batch. Time is the NPU's. Not modelled: reordering of reads, masked writes, a limit on
// outstanding reads (the port has one).
#pragma once

#include <optional>
#include <vector>

#include "models/base/error.h"
#include "models/memory/dram_address.h"
#include "models/memory/dram_timing.h"
#include "models/memory/memory_config.h"

namespace npuscope {

// Between the NPU's clock and a memory's: an event of one side is seen at the first edge of the
// other that is not before it. Both clocks have an edge at time 0. Integers only.

class ClockCrossing {
 public:
    ClockCrossing(Hertz npu, Hertz memory) : npu_(npu.value), memory_(memory.value) {
        constexpr std::uint64_t fastest = std::uint64_t{1} << 32;
        if (npu_ == 0 || memory_ == 0 || npu_ >= fastest || memory_ >= fastest) {
            throw ConfigError("the clocks of a DRAM and its NPU must lie between 1 Hz and 4 GHz",
                              "correct dram.clock or npu.clock");
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

class DramController {
 public:
    /// The DRAM covers the addresses from `base` on. ConfigError if its parts do not fit.
    DramController(const DramConfig& config, Address base);

    /// First cycle in which all of a range requested in `asked` can be on the port.
    Cycles read(Address address, Bytes bytes, Cycles asked);
    /// Cycle of the response to a write whose last beat was sent in `sent`.
    Cycles write(Address address, Bytes bytes, Cycles sent);

    const DramAddressMap& map() const { return map_; }
    DramStatistics statistics() const;

 private:
    struct Kept {
        std::uint64_t burst;
        Cycles arrived;
    };
    Kept* find_kept(std::uint64_t burst);
    void keep(const Kept& read);
    bool gathered(std::uint64_t burst) const;
    Cycles read_burst(std::uint64_t burst, Cycles asked);
    Cycles write_burst(std::uint64_t burst, Cycles sent);
    void write_batch(Cycles time);
    DramLocation location_of(std::uint64_t burst) const;

    const DramConfig config_;
    const Address base_;
    DramAddressMap map_;
    ClockCrossing clocks_;
    DramTiming timing_;
    std::vector<Kept> kept_;
    std::size_t oldest_ = 0;
    std::size_t latest_ = 0;
    std::vector<std::uint64_t> batch_;  // bursts gathered for writing
    Cycles written_;                    // end of the previous batch
    std::uint64_t merged_beats_ = 0;
};

}  // namespace npuscope
