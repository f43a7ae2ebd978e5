// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_state.h"

#include <algorithm>

#include "models/base/check.h"
#include "models/base/error.h"

namespace npuscope {
namespace {

/// `a - b`, or 0 where that would be negative.
Clocks less(Clocks a, Clocks b) { return a > b ? a - b : Clocks(0); }

std::size_t index(DramCommand command) { return static_cast<std::size_t>(command); }

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
        {Rank, Precharge, Precharge, t.t_ppd},
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

DramState::Constants DramState::constants_of(const DramConfig& config) {
    const DramCommandBus& bus = config.command_bus;
    Constants all{.organisation = config.organisation,
                  .timing = config.timing,
                  .lengths = {bus.activate, bus.precharge, bus.read, bus.write},
                  .has_halves = bus.activate_in_halves,
                  .refresh_length = bus.refresh,
                  .holds = {},
                  .holds_others = {}};
    if (bus.refresh == Clocks(0) || std::ranges::count(all.lengths, Clocks(0)) > 0) {
        throw ConfigError("a DRAM command takes 0 clocks of the command bus",
                          "make each clock of command_bus 1 or more");
    }
    if (bus.activate_in_halves) {
        if (bus.activate.value % 2 != 0) {
            throw ConfigError(
                "an ACTIVATE that is sent in two halves must take an even number of clocks",
                "make command_bus.activate even");
        }
        all.lengths[index(DramCommand::Activate)] = Clocks(bus.activate.value / 2);
    }
    for (const DramRule& rule : dram_rules(config)) {
        if (rule.gap > Clocks(0)) {
            auto& holds = rule.scope == DramScope::OtherRanks ? all.holds_others : all.holds;
            holds[index(rule.first)].push_back(
                {static_cast<std::size_t>(rule.scope), index(rule.next), rule.gap});
        }
    }
    return all;
}

DramState::DramState(const DramConfig& config)
    : constants_(std::make_shared<const Constants>(constants_of(config))),
      ranks_(config.organisation.ranks),
      groups_(ranks_.size() * config.organisation.bank_groups),
      banks_(groups_.size() * config.organisation.banks),
      rows_(banks_.size()) {}

DramPlace DramState::place_of(const DramLocation& at) const {
    const DramOrganisation& organisation = constants_->organisation;
    const std::uint32_t group = at.rank * organisation.bank_groups + at.bank_group;
    return {.rank = at.rank,
            .group = group,
            .bank = group * organisation.banks + at.bank,
            .row = at.row};
}

void DramState::hold_back_other_ranks(DramCommand issued, const DramPlace& to, Clocks at) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        for (const Hold& hold : constants_->holds_others[index(issued)]) {
            if (rank != to.rank) {
                Clocks& ready = ranks_[rank].ready[hold.next];
                ready = std::max(ready, at + hold.gap);
            }
        }
    }
}

void DramState::issue(DramCommand command, const DramPlace& to, Clocks at) {
    NPU_CHECK(at >= earliest(command, to, Clocks(0)),
              "a DRAM command keeps the timing of its bank and bus");
    std::optional<std::uint32_t>& row = rows_[to.bank];
    if (command == DramCommand::Activate) {
        NPU_CHECK(!row, "a bank is closed before a row is opened");
        row = to.row;
        Rank& rank = ranks_[to.rank];
        rank.activated[rank.oldest] = at + constants_->timing.t_faw;
        rank.oldest = (rank.oldest + 1) % rank.activated.size();
    } else if (command == DramCommand::Precharge) {
        row.reset();
    } else {
        NPU_CHECK(row == to.row, "a row is open before its columns are moved");
    }
    const std::array<Ready*, 4> of{&banks_[to.bank], &groups_[to.group], &ranks_[to.rank].ready,
                                   &channel_};
    for (const Hold& hold : constants_->holds[index(command)]) {
        Clocks& ready = (*of[hold.scope])[hold.next];
        ready = std::max(ready, at + hold.gap);
    }
    if (ranks_.size() > 1) {
        hold_back_other_ranks(command, to, at);
    }
    bus_free_ = at + Clocks(1);
}

void DramState::close(const DramPlace& of) {
    Ready& bank = banks_[of.bank];
    rows_[of.bank].reset();
    Clocks& activate = bank[index(DramCommand::Activate)];
    activate = std::max(activate, bank[index(DramCommand::Precharge)] + constants_->timing.t_rp);
}

void DramState::refresh(std::uint32_t rank, Clocks due) {
    const std::size_t count = banks_.size() / ranks_.size();
    const std::size_t first = rank * count;
    const std::size_t precharge = index(DramCommand::Precharge);
    const std::size_t activate = index(DramCommand::Activate);
    // two commands in thousands of clocks: they wait for the bus, and no others wait for them
    const auto on_bus = [&](Clocks length) {
        return std::max(due, bus_free_) + length - Clocks(1);
    };
    Clocks closed = std::max(ranks_[rank].ready[precharge], on_bus(constants_->lengths[precharge]));
    for (std::size_t bank = first; bank < first + count; ++bank) {
        closed = std::max(closed, rows_[bank] ? banks_[bank][precharge] : Clocks(0));
    }
    Clocks refreshed = on_bus(constants_->refresh_length);
    for (std::size_t bank = first; bank < first + count; ++bank) {
        Clocks& ready = banks_[bank][activate];
        if (rows_[bank]) {
            rows_[bank].reset();
            ready = std::max(ready, closed + constants_->timing.t_rp);
        }
        refreshed = std::max(refreshed, ready);
    }
    Clocks& ready = ranks_[rank].ready[activate];
    ready = std::max(ready, refreshed + constants_->timing.t_rfc);
}

}  // namespace npuscope
