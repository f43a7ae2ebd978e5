// SPDX-License-Identifier: Apache-2.0
// When the data of a burst is on the bus. Bursts are served in the order of the calls, each with
// the commands that it needs (PRECHARGE, ACTIVATE, then READ or WRITE) as early as the rules allow,
// so banks work side by side while data keeps its order. Ranks are refreshed when due, between
// bursts. Time is clocks of the command bus and may step back from one call to the next: a burst
// that comes late in the order of calls finds the bus as the others left it. Not modelled:
// reordering for row hits, postponed or per-bank refresh.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "models/memory/dram_address.h"
#include "models/memory/memory_config.h"

namespace npuscope {

// What every bank, bank group, rank and channel of a DRAM remembers: which row is open and when
// each command may come next. Commands are issued by DramTiming; one that comes
// too early is a bug of ours. Not modelled: the command bus itself, which takes one command a
// clock.

// The timing of a DRAM as rows: after one command, the earliest clock of another, to the same bank,
// bank group, rank or channel, or to the other ranks of a channel. The rows hold for every family
// from DDR3 to LPDDR5; what differs is the numbers (and rows that come out as zero).

enum class DramCommand { Activate, Precharge, Read, Write };
inline constexpr std::size_t dram_commands = 4;

/// Whom a rule binds: the same bank, group, rank or channel as the first command's, or the other
/// ranks of its channel.
enum class DramScope { Bank, Group, Rank, Channel, OtherRanks };
inline constexpr std::size_t dram_scopes = 5;

struct DramRule {
    DramScope scope;
    DramCommand first;
    DramCommand next;
    Clocks gap;
};

std::vector<DramRule> dram_rules(const DramConfig& config);

/// Rules as gap[scope][first][next]; where two rules say the same, the longer one.
using DramGaps =
    std::array<std::array<std::array<Clocks, dram_commands>, dram_commands>, dram_scopes>;
DramGaps dram_gaps(const std::vector<DramRule>& rules);

class DramState {
 public:
    explicit DramState(const DramConfig& config);

    /// First clock at which a command to this bank breaks no rule.
    Clocks earliest(DramCommand command, const DramLocation& to) const;
    void issue(DramCommand command, const DramLocation& to, Clocks at);
    /// Closes every bank of a rank as soon as its rules allow it and refreshes; nothing of it can
    /// be activated until t_rfc later.
    void refresh(std::uint32_t channel, std::uint32_t rank, Clocks due);
    std::optional<std::uint32_t> open_row(const DramLocation& of) const;

 private:
    using Ready = std::array<Clocks, dram_commands>;  // first clock of each command
    struct Bank {
        Ready ready{};
        std::optional<std::uint32_t> row;
    };
    struct Rank {
        Ready ready{};
        std::array<Clocks, 4> activated{};  // when a fourth ACTIVATE from now on leaves the window
        std::size_t oldest = 0;
    };
    std::size_t rank_of(const DramLocation& at) const;
    std::size_t group_of(const DramLocation& at) const;
    std::size_t bank_of(const DramLocation& at) const;
    void hold_back(Ready& ready, DramScope scope, DramCommand issued, Clocks at);
    void hold_back_other_ranks(const DramLocation& to, DramCommand issued, Clocks at);

    const DramOrganisation organisation_;
    const DramTimings timing_;
    const DramGaps gaps_;
    std::vector<Ready> channels_;
    std::vector<Rank> ranks_;
    std::vector<Ready> groups_;
    std::vector<Bank> banks_;
};

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
