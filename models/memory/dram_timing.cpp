// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_timing.h"

namespace npuscope {

DramTiming::DramTiming(const DramConfig& config)
    : read_end_(config.timing.cl + config.timing.data_delay + config.organisation.burst_clocks()),
      write_end_(config.timing.cwl + config.organisation.burst_clocks()) {
    for (std::uint32_t channel = 0; channel < config.organisation.channels; ++channel) {
        channels_.emplace_back(config);
    }
}

Clocks DramTiming::read(const DramLocation& from, Clocks asked) {
    return channels_[from.channel].serve(DramCommand::Read, from, asked) + read_end_;
}

Clocks DramTiming::write(const DramLocation& to, Clocks asked) {
    return channels_[to.channel].serve(DramCommand::Write, to, asked) + write_end_;
}

DramStatistics DramTiming::statistics() const {
    DramStatistics all;
    for (const DramChannel& channel : channels_) {
        const DramStatistics& one = channel.statistics();
        all.read_bursts += one.read_bursts;
        all.write_bursts += one.write_bursts;
        all.row_hits += one.row_hits;
        all.row_misses += one.row_misses;
        all.row_conflicts += one.row_conflicts;
        all.refreshes += one.refreshes;
        all.turnarounds += one.turnarounds;
    }
    return all;
}

}  // namespace npuscope
