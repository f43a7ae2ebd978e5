// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "models/base/error.h"

namespace npuscope {

DramChannel::Player::Player(const DramConfig& config)
    : state(config),
      refresh_due(config.organisation.ranks, config.timing.t_refi > Clocks(0)
                                                 ? config.timing.t_refi
                                                 : Clocks(~std::uint64_t{0})) {}

DramChannel::DramChannel(const DramConfig& config)
    : config_(config),
      bank_free_(std::size_t{config.organisation.ranks} * config.organisation.bank_groups *
                 config.organisation.banks),
      settled_(config),
      latest_(config) {
    if (config.queue == 0 || config.queue > most_kept) {
        throw ConfigError(fmt::format("a DRAM's queue has {} bursts", config.queue),
                          fmt::format("make dram.queue a number from 1 to {}", most_kept));
    }
    const DramCommandBus& bus = config.command_bus;
    if (config.timing.t_refi > Clocks(0) &&
        bus.precharge + bus.refresh + config.timing.t_rfc >= config.timing.t_refi) {
        throw ConfigError(
            "a DRAM whose refresh takes as long as its refresh interval never serves a request",
            "make timing.t_rfc and the commands before it smaller than timing.t_refi");
    }
}

Clocks DramChannel::serve(DramCommand column, const DramLocation& at, Clocks asked) {
    const DramPlace place = latest_.state.place_of(at);
    const bool needs_row = latest_.state.open_row(place) != place.row;
    const bool others_wait = latest_.state.bus_free() > asked;
    const bool is_full = end_ - settled_.next == most_kept;
    if (!others_wait && (needs_row || is_full)) {
        settled_ = latest_;
    } else if (needs_row || is_full) {
        settle(asked, end_);
    }
    const std::uint64_t number = end_++;
    std::uint64_t& bank_free = bank_free_[place.bank];
    bursts_[number % most_kept] = {place, asked, column, bank_free};
    bank_free = end_;
    if (needs_row) {
        settled_.waiting |= bit_of(number);
        if (others_wait) {
            latest_ = settled_;
        }
        latest_.waiting |= bit_of(number);
        forget_rows(latest_);
    }
    return play_all(latest_);
}

void DramChannel::settle(Clocks asked, std::uint64_t next) {
    forget_rows(settled_);
    while (settled_.next < next) {
        const Choice choice = choose(settled_, next);
        const bool is_seen = next - settled_.next < config_.queue;
        if (is_seen && settled_.state.begin_of(choice.command, choice.at) >= asked) {
            return;
        }
        play(settled_, next, choice);
    }
}

Clocks DramChannel::play_all(Player& player) const {
    Choice choice;
    while (player.next < end_) {
        choice = choose(player, end_);
        play(player, end_, choice);
    }
    return choice.at;
}

DramChannel::Choice DramChannel::oldest_column(const Player& player) const {
    const Burst& oldest = burst(player.next);
    return {player.next, oldest.column,
            player.state.earliest(oldest.column, oldest.place, oldest.asked)};
}

DramChannel::Choice DramChannel::choose(Player& player, std::uint64_t end) const {
    if (player.waiting == 0) {
        return oldest_column(player);
    }
    if ((player.waiting & bit_of(player.next)) == 0 && player.next < player.rows_until) {
        const Choice column = oldest_column(player);
        if (column.at <= player.rows_from) {
            return column;
        }
    }
    const Choice row = choose_row(player, end);
    if ((player.waiting & bit_of(player.next)) != 0) {
        return row;
    }
    const Choice column = oldest_column(player);
    return column.at <= row.at ? column : row;
}

DramChannel::Choice DramChannel::choose_row(Player& player, std::uint64_t end) const {
    Choice best{.at = Clocks(~std::uint64_t{0})};
    const std::uint64_t seen = player.next + config_.queue;
    player.rows_until = end;
    BurstSet waiting = std::rotr(player.waiting, static_cast<int>(player.next % most_kept));
    bool may_open = true;
    for (; waiting != 0; waiting &= waiting - 1) {
        const std::uint64_t number = player.next + static_cast<unsigned>(std::countr_zero(waiting));
        if (number >= end) {
            break;
        }
        if (number >= seen) {
            player.rows_until = std::min(player.rows_until, number + 1 - config_.queue);
            break;
        }
        const Burst& one = burst(number);
        const bool opens = may_open;
        may_open = config_.row_order == RowOrder::Ready;
        if (one.asked >= best.at) {
            continue;
        }
        if (one.bank_free > player.next) {
            player.rows_until = std::min(player.rows_until, one.bank_free);
        } else {
            if (player.state.open_row(one.place) == one.place.row &&
                (player.half_open & bit_of(number)) == 0) {
                player.waiting &= ~bit_of(number);
                may_open = opens;
                continue;
            }
            const Choice choice = row_command(player, number);
            const bool opens_now = choice.command == DramCommand::Activate && !choice.is_half;
            if (choice.at < best.at && (opens || !opens_now)) {
                best = choice;
            }
        }
    }
    player.rows_from = best.at;
    return best;
}

DramChannel::Choice DramChannel::row_command(const Player& player, std::uint64_t number) const {
    const Burst& one = burst(number);
    if ((player.half_open & bit_of(number)) != 0) {
        return {number, DramCommand::Activate, player.state.earliest_half(one.asked), true};
    }
    const DramCommand command =
        player.state.open_row(one.place) ? DramCommand::Precharge : DramCommand::Activate;
    return {number, command, player.state.earliest(command, one.place, one.asked)};
}

bool DramChannel::is_due(const Player& player, const Choice& choice) const {
    return player.state.begin_of(choice.command, choice.at) >=
           player.refresh_due[burst(choice.burst).place.rank];
}

void DramChannel::play(Player& player, std::uint64_t end, const Choice& choice) const {
    if (!is_due(player, choice)) {
        issue(player, choice);
    } else if ((player.opened & bit_of(player.next)) != 0 &&
               burst(player.next).place.rank == burst(choice.burst).place.rank) {
        const bool is_half_open = (player.half_open & bit_of(player.next)) != 0;
        issue(player, is_half_open ? row_command(player, player.next) : oldest_column(player));
    } else {
        refresh(player, end, choice);
    }
}

void DramChannel::refresh(Player& player, std::uint64_t end, const Choice& before) const {
    const std::uint32_t rank = burst(before.burst).place.rank;
    Clocks& due = player.refresh_due[rank];
    const Clocks interval = config_.timing.t_refi;
    // of those that a long pause contains, only the last can still have an effect
    const std::uint64_t missed =
        (player.state.begin_of(before.command, before.at) - due) / interval;
    player.statistics.refreshes += missed + 1;
    player.state.refresh(rank, due + interval * missed);
    due += interval * (missed + 1);
    for (std::uint64_t number = player.next; number < end; ++number) {
        if (burst(number).place.rank == rank) {
            player.waiting |= bit_of(number);
            player.opened &= ~bit_of(number);
            player.half_open &= ~bit_of(number);
        }
    }
    forget_rows(player);
}

void DramChannel::issue(Player& player, const Choice& choice) const {
    const Burst& one = burst(choice.burst);
    const BurstSet bit = bit_of(choice.burst);
    if (choice.is_half) {
        player.state.issue_half(choice.at);
        player.half_open &= ~bit;
        player.waiting &= ~bit;
        forget_rows(player);
        return;
    }
    player.state.issue(choice.command, one.place, choice.at);
    if (choice.command == DramCommand::Precharge) {
        player.closed |= bit;
        forget_rows(player);
    } else if (choice.command == DramCommand::Activate) {
        player.opened |= bit;
        if (player.state.has_halves()) {
            player.half_open |= bit;
        } else {
            player.waiting &= ~bit;
        }
        forget_rows(player);
    } else {
        count(player, choice.burst);
        ++player.next;
        if (config_.page_policy == PagePolicy::Closed) {
            player.state.close(one.place);
        }
    }
}

void DramChannel::count(Player& player, std::uint64_t number) const {
    DramStatistics& statistics = player.statistics;
    const DramCommand column = burst(number).column;
    ++(column == DramCommand::Read ? statistics.read_bursts : statistics.write_bursts);
    const BurstSet bit = bit_of(number);
    ++((player.closed & bit) != 0   ? statistics.row_conflicts
       : (player.opened & bit) != 0 ? statistics.row_misses
                                    : statistics.row_hits);
    player.closed &= ~bit;
    player.opened &= ~bit;
    if (player.last_column != column) {
        player.last_column = column;
        ++statistics.turnarounds;
    }
}

}  // namespace npuscope
