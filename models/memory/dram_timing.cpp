// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_timing.h"

#include <algorithm>

#include "models/base/check.h"
#include "models/base/error.h"

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

namespace {

std::size_t index(DramCommand command) { return static_cast<std::size_t>(command); }

}  // namespace

DramState::DramState(const DramConfig& config)
    : organisation_(config.organisation),
      timing_(config.timing),
      gaps_(dram_gaps(dram_rules(config))),
      channels_(organisation_.channels),
      ranks_(channels_.size() * organisation_.ranks),
      groups_(ranks_.size() * organisation_.bank_groups),
      banks_(groups_.size() * organisation_.banks) {}

std::size_t DramState::rank_of(const DramLocation& at) const {
    return std::size_t{at.channel} * organisation_.ranks + at.rank;
}
std::size_t DramState::group_of(const DramLocation& at) const {
    return rank_of(at) * organisation_.bank_groups + at.bank_group;
}
std::size_t DramState::bank_of(const DramLocation& at) const {
    return group_of(at) * organisation_.banks + at.bank;
}

std::optional<std::uint32_t> DramState::open_row(const DramLocation& of) const {
    return banks_[bank_of(of)].row;
}

Clocks DramState::earliest(DramCommand command, const DramLocation& to) const {
    const std::size_t i = index(command);
    const Rank& rank = ranks_[rank_of(to)];
    const Clocks window =
        command == DramCommand::Activate ? rank.activated[rank.oldest] : Clocks(0);
    return std::max({banks_[bank_of(to)].ready[i], groups_[group_of(to)][i], rank.ready[i],
                     channels_[to.channel][i], window});
}

void DramState::hold_back(Ready& ready, DramScope scope, DramCommand issued, Clocks at) {
    const auto& gaps = gaps_[static_cast<std::size_t>(scope)][index(issued)];
    for (std::size_t next = 0; next < dram_commands; ++next) {
        if (gaps[next] > Clocks(0)) {
            ready[next] = std::max(ready[next], at + gaps[next]);
        }
    }
}

void DramState::hold_back_other_ranks(const DramLocation& to, DramCommand issued, Clocks at) {
    for (std::uint32_t rank = 0; rank < organisation_.ranks; ++rank) {
        if (rank != to.rank) {
            const std::size_t other = std::size_t{to.channel} * organisation_.ranks + rank;
            hold_back(ranks_[other].ready, DramScope::OtherRanks, issued, at);
        }
    }
}

void DramState::issue(DramCommand command, const DramLocation& to, Clocks at) {
    NPU_CHECK(at >= earliest(command, to), "a DRAM command keeps the timing of its bank");
    Bank& bank = banks_[bank_of(to)];
    Rank& rank = ranks_[rank_of(to)];
    if (command == DramCommand::Activate) {
        NPU_CHECK(!bank.row, "a bank is closed before a row is opened");
        bank.row = to.row;
        rank.activated[rank.oldest] = at + timing_.t_faw;
        rank.oldest = (rank.oldest + 1) % rank.activated.size();
    } else if (command == DramCommand::Precharge) {
        bank.row.reset();
    } else {
        NPU_CHECK(bank.row == to.row, "a row is open before its columns are moved");
    }
    hold_back(bank.ready, DramScope::Bank, command, at);
    hold_back(groups_[group_of(to)], DramScope::Group, command, at);
    hold_back(rank.ready, DramScope::Rank, command, at);
    hold_back(channels_[to.channel], DramScope::Channel, command, at);
    hold_back_other_ranks(to, command, at);
}

void DramState::refresh(std::uint32_t channel, std::uint32_t rank, Clocks due) {
    Clocks start = due;
    DramLocation at{.channel = channel, .rank = rank};
    const std::size_t first = bank_of(at);
    const std::size_t count = std::size_t{organisation_.bank_groups} * organisation_.banks;
    for (std::size_t i = 0; i < count; ++i) {
        at.bank_group = static_cast<std::uint32_t>(i / organisation_.banks);
        at.bank = static_cast<std::uint32_t>(i % organisation_.banks);
        Bank& bank = banks_[first + i];
        if (bank.row) {
            issue(DramCommand::Precharge, at, std::max(due, earliest(DramCommand::Precharge, at)));
        }
        start = std::max(start, bank.ready[index(DramCommand::Activate)]);
    }
    Clocks& activate = ranks_[rank_of(at)].ready[index(DramCommand::Activate)];
    activate = std::max(activate, start + timing_.t_rfc);
}

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
