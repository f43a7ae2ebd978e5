// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_rules.h"

#include <algorithm>

namespace npuscope {
namespace {

/// `a - b`, or nothing where that would be negative.
Clocks less(Clocks a, Clocks b) { return a > b ? a - b : Clocks(0); }

}  // namespace

std::vector<DramRule> dram_rules(const DramConfig& config) {
    using enum DramScope;
    using enum DramCommand;
    const DramTimings& t = config.timing;
    const Clocks burst = config.organisation.burst_clocks();
    const Clocks read_end = t.cl + t.data_delay + burst;  // READ to the end of its data
    const Clocks write_end = t.cwl + burst;               // WRITE to the end of its data
    const Clocks read_to_write = less(read_end + t.read_to_write, t.cwl);
    const Clocks other_rank = std::max(t.read_to_write, t.rank_switch);
    return {
        {Bank, Activate, Read, t.t_rcd},
        {Bank, Activate, Write, t.t_rcd},
        {Bank, Activate, Precharge, t.t_ras},
        {Bank, Activate, Activate, t.t_rc},
        {Bank, Precharge, Activate, t.t_rp},
        {Bank, Read, Precharge, t.t_rtp},
        {Bank, Write, Precharge, write_end + t.t_wr},

        {Group, Activate, Activate, t.t_rrd_l},
        {Group, Read, Read, t.t_ccd_l},
        {Group, Write, Write, t.t_ccd_l},
        {Group, Write, Read, write_end + t.t_wtr_l},

        {Rank, Activate, Activate, t.t_rrd_s},
        {Rank, Read, Read, t.t_ccd_s},
        {Rank, Write, Write, t.t_ccd_s},
        {Rank, Read, Write, read_to_write},
        {Rank, Write, Read, write_end + t.t_wtr_s},

        // the data bus of the channel
        {Channel, Read, Read, burst},
        {Channel, Write, Write, burst},
        {OtherRanks, Read, Read, burst + t.rank_switch},
        {OtherRanks, Write, Write, burst + t.rank_switch},
        {OtherRanks, Read, Write, less(read_end + other_rank, t.cwl)},
        {OtherRanks, Write, Read, less(write_end + t.rank_switch, t.cl + t.data_delay)},
    };
}

DramGaps dram_gaps(const std::vector<DramRule>& rules) {
    DramGaps gaps{};
    for (const DramRule& rule : rules) {
        Clocks& gap =
            gaps[static_cast<std::size_t>(rule.scope)][static_cast<std::size_t>(rule.first)]
                [static_cast<std::size_t>(rule.next)];
        gap = std::max(gap, rule.gap);
    }
    return gaps;
}

}  // namespace npuscope
