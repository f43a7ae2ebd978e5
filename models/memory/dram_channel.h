// SPDX-License-Identifier: Apache-2.0
// The bursts of one DRAM channel in arrival order, and the commands that they need: PRECHARGE and
// ACTIVATE if their row is not open, then READ or WRITE. Data is transferred in burst order. Rows
// are opened ahead for the oldest `queue` bursts: of all possible commands, the one that completes
// first is issued, and of several the oldest burst's. Ranks are refreshed when due, before anything
// except the column command of the oldest burst if its row was opened for it.
//
// A burst is answered at once, as if no younger one will come. A younger one whose row opens first
// may still take clocks from older ones; it and those after it are then served later. So commands
// are played twice: `settled_` has those that no future burst can change, `latest_` all of them.
// Only a burst that needs a row while others wait makes `latest_` restart there.
//
// Not modelled: reordering of data for row hits, postponed or per-bank refresh.
#pragma once

#include <array>
#include <vector>

#include "models/memory/dram_state.h"

namespace npuscope {

class DramChannel {
 public:
    /// ConfigError if the queue has no or too many bursts, or bus or refresh do not fit.
    explicit DramChannel(const DramConfig& config);

    /// Clock of the column command of a burst requested at `asked`.
    Clocks serve(DramCommand column, const DramLocation& at, Clocks asked);

    const DramStatistics& statistics() const { return latest_.statistics; }

 private:
    static constexpr std::uint64_t most_kept = 64;  // bursts, one per bit of a set
    struct Burst {
        DramPlace place;
        Clocks asked;
        DramCommand column = DramCommand::Read;
        std::uint64_t bank_free = 0;  // number of the first burst after the last one of its bank
    };
    /// Bursts that are not complete yet, by number % most_kept.
    using BurstSet = std::uint64_t;
    struct Player {
        explicit Player(const DramConfig& config);
        DramState state;
        std::uint64_t next = 0;  // number of the oldest burst that is not complete
        BurstSet waiting = 0;    // their row may not be open, or the second half is missing
        BurstSet half_open = 0;  // the second half of their ACTIVATE is missing
        BurstSet opened = 0;     // a row was opened for them
        BurstSet closed = 0;     // another row was closed for them
        Clocks
            rows_from;  // lower bound on the first clock at which a command for a waiting burst can be issued
        std::uint64_t rows_until =
            0;  // number of the oldest burst at which that bound ceases to hold
        std::vector<Clocks> refresh_due;  // of each rank
        DramCommand last_column = DramCommand::Read;
        DramStatistics statistics;
    };
    struct Choice {
        std::uint64_t burst = 0;
        DramCommand command = DramCommand::Read;
        Clocks at;
        bool is_half = false;  // the second half of an ACTIVATE
    };
    static BurstSet bit_of(std::uint64_t burst) { return BurstSet{1} << burst % most_kept; }
    const Burst& burst(std::uint64_t number) const { return bursts_[number % most_kept]; }

    /// The next command for the bursts before `end`, of which at least one is not complete.
    Choice choose(Player& player, std::uint64_t end) const;
    Choice choose_row(Player& player, std::uint64_t end) const;
    /// For a burst that waits for one.
    Choice row_command(const Player& player, std::uint64_t number) const;
    static void forget_rows(Player& player) { player.rows_until = 0; }
    Choice oldest_column(const Player& player) const;
    /// A refresh is due before the choice can begin.
    bool is_due(const Player& player, const Choice& choice) const;
    /// Plays the choice, or the refresh that is due before it.
    void play(Player& player, std::uint64_t end, const Choice& choice) const;
    void refresh(Player& player, std::uint64_t end, const Choice& before) const;
    void issue(Player& player, const Choice& choice) const;
    void count(Player& player, std::uint64_t number) const;
    /// Plays everything that a burst requested at `asked` as number `next` cannot change.
    void settle(Clocks asked, std::uint64_t next);
    /// The clock of the last column command.
    Clocks play_all(Player& player) const;

    const DramConfig config_;
    std::array<Burst, most_kept> bursts_{};
    std::uint64_t end_ = 0;                 // number of the next burst
    std::vector<std::uint64_t> bank_free_;  // of each bank, at a burst
    Player settled_;
    Player latest_;
};

}  // namespace npuscope
