// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_timing.h"

#include <algorithm>

#include "models/base/error.h"

namespace npuscope {

DramTiming::DramTiming(const DramConfig& config)
    : config_(config),
      state_(config),
      refresh_due_(std::size_t{config.organisation.channels} * config.organisation.ranks,
                   config.timing.t_refi),
      last_columns_(config.organisation.channels, DramCommand::Read) {
    if (config.timing.t_refi > Clocks(0) && config.timing.t_rfc >= config.timing.t_refi) {
        throw ConfigError("a DRAM whose refresh takes as long as its interval never answers",
                          "make timing.t_rfc smaller than timing.t_refi");
    }
}

Clocks DramTiming::read(const DramLocation& from, Clocks asked) {
    ++statistics_.read_bursts;
    return serve(DramCommand::Read, from, asked) + config_.timing.cl + config_.timing.data_delay +
           config_.organisation.burst_clocks();
}

Clocks DramTiming::write(const DramLocation& to, Clocks asked) {
    ++statistics_.write_bursts;
    return serve(DramCommand::Write, to, asked) + config_.timing.cwl +
           config_.organisation.burst_clocks();
}

Clocks DramTiming::serve(DramCommand column, const DramLocation& at, Clocks asked) {
    refresh_if_due(column, at, asked);
    open(at, asked);
    count_direction(at.channel, column);
    const Clocks issued = std::max(asked, state_.earliest(column, at));
    state_.issue(column, at, issued);
    if (config_.page_policy == PagePolicy::Closed) {
        issue_early(DramCommand::Precharge, at, issued);
    }
    return issued;
}

void DramTiming::refresh_if_due(DramCommand column, const DramLocation& at, Clocks asked) {
    if (config_.timing.t_refi == Clocks(0)) {
        return;
    }
    const std::size_t rank = std::size_t{at.channel} * config_.organisation.ranks + at.rank;
    Clocks& due = refresh_due_[rank];
    for (;;) {
        const bool hit = state_.open_row(at) == at.row;
        const DramCommand first = hit ? column : DramCommand::Activate;
        const Clocks begin = std::max(asked, state_.earliest(first, at));
        if (begin < due) {
            return;
        }
        // of those that a long pause holds only the last can still be felt
        const std::uint64_t missed = (begin - due) / config_.timing.t_refi;
        statistics_.refreshes += missed + 1;
        state_.refresh(at.channel, at.rank, due + config_.timing.t_refi * missed);
        due += config_.timing.t_refi * (missed + 1);
    }
}

void DramTiming::open(const DramLocation& at, Clocks asked) {
    const std::optional<std::uint32_t> row = state_.open_row(at);
    if (row == at.row) {
        ++statistics_.row_hits;
        return;
    }
    if (row) {
        ++statistics_.row_conflicts;
        issue_early(DramCommand::Precharge, at, asked);
    } else {
        ++statistics_.row_misses;
    }
    issue_early(DramCommand::Activate, at, asked);
}

void DramTiming::issue_early(DramCommand command, const DramLocation& to, Clocks asked) {
    state_.issue(command, to, std::max(asked, state_.earliest(command, to)));
}

void DramTiming::count_direction(std::uint32_t channel, DramCommand column) {
    if (last_columns_[channel] != column) {
        last_columns_[channel] = column;
        ++statistics_.turnarounds;
    }
}

}  // namespace npuscope
