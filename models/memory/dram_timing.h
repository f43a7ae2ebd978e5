// SPDX-License-Identifier: Apache-2.0
// When the data of a burst is on the bus. Bursts are served in the order of the calls, each with
// the commands that it needs (PRECHARGE, ACTIVATE, then READ or WRITE) as early as the rules allow,
// so banks work side by side while data keeps its order. Ranks are refreshed when due, between
// bursts. Time is clocks of the command bus and may step back from one call to the next: a burst
// that comes late in the order of calls finds the bus as the others left it. Not modelled:
// reordering for row hits, postponed or per-bank refresh.
#pragma once

#include <vector>

#include "models/memory/dram_address.h"
#include "models/memory/dram_state.h"
#include "models/memory/memory_config.h"

namespace npuscope {

class DramTiming {
 public:
    explicit DramTiming(const DramConfig& config);

    /// Clock after the last data of the burst, which is asked for at `asked`.
    Clocks read(const DramLocation& from, Clocks asked);
    Clocks write(const DramLocation& to, Clocks asked);

    const DramStatistics& statistics() const { return statistics_; }

 private:
    /// The clock of the column command.
    Clocks serve(DramCommand column, const DramLocation& at, Clocks asked);
    void refresh_if_due(DramCommand column, const DramLocation& at, Clocks asked);
    void open(const DramLocation& at, Clocks asked);
    void issue_early(DramCommand command, const DramLocation& to, Clocks asked);
    void count_direction(std::uint32_t channel, DramCommand column);

    const DramConfig config_;
    DramState state_;
    DramStatistics statistics_;
    std::vector<Clocks> refresh_due_;        // of each rank
    std::vector<DramCommand> last_columns_;  // of each channel
};

}  // namespace npuscope
