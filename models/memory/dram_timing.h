// SPDX-License-Identifier: Apache-2.0
// When the data of a burst is on the bus: each of a DRAM's channels serves its bursts in call
// order. Time is in command bus clocks and may step back from one call to the next: a burst that
// comes late in call order finds the bus as the others left it.
#pragma once

#include <deque>

#include "models/memory/dram_channel.h"

namespace npuscope {

class DramTiming {
 public:
    explicit DramTiming(const DramConfig& config);

    /// Clock after the last data of the burst, which is requested at `asked`.
    Clocks read(const DramLocation& from, Clocks asked);
    Clocks write(const DramLocation& to, Clocks asked);

    /// Of all channels.
    DramStatistics statistics() const;

 private:
    Clocks read_end_;   // READ to the end of its data
    Clocks write_end_;  // WRITE to the end of its data
    std::deque<DramChannel> channels_;
};

}  // namespace npuscope
