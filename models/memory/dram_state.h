// SPDX-License-Identifier: Apache-2.0
// What the banks, bank groups and ranks of one channel remember: which row is open, and when each
// command may come next; and the channel's command bus, which carries one command at a time. The
// clock of a command is its last one on the bus, from which JEDEC counts. The timing is a table of
// rows: after one command, the earliest clock of another. They hold for every family from DDR3 to
// LPDDR5; only the numbers differ (and some rows are zero). A command that comes too early is a bug
// of the simulator. For an ACTIVATE in halves that clock is the first half's last, and the other
// half needs only the bus.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "models/memory/dram_address.h"
#include "models/memory/memory_config.h"

namespace npuscope {

enum class DramCommand { Activate, Precharge, Read, Write };
inline constexpr std::size_t dram_commands = 4;

/// What a rule applies to: the same bank, group, rank or channel as the first command's, or the
/// other ranks of its channel.
enum class DramScope { Bank, Group, Rank, Channel, OtherRanks };

struct DramRule {
    DramScope scope;
    DramCommand first;
    DramCommand next;
    Clocks gap;
};

std::vector<DramRule> dram_rules(const DramConfig& config);

/// A row of a channel, computed once for all commands of a burst. Ranks, groups and banks count
/// from the channel's first.
struct DramPlace {
    std::uint32_t rank = 0;
    std::uint32_t group = 0;
    std::uint32_t bank = 0;
    std::uint32_t row = 0;
};

class DramState {
 public:
    /// ConfigError if a command takes no clock of the bus.
    explicit DramState(const DramConfig& config);

    DramPlace place_of(const DramLocation& at) const;

    /// First clock of a command that begins on the bus in `asked` or later and breaks no rule.
    Clocks earliest(DramCommand command, const DramPlace& to, Clocks asked) const {
        const auto i = static_cast<std::size_t>(command);
        const Clocks bus = std::max(asked, bus_free_) + constants_->lengths[i] - Clocks(1);
        const Clocks ready = std::max(
            std::max(bus, banks_[to.bank][i]),
            std::max(std::max(groups_[to.group][i], ranks_[to.rank].ready[i]), channel_[i]));
        return command == DramCommand::Activate ? std::max(ready, ranks_[to.rank].window_left())
                                                : ready;
    }
    /// The clock at which a command begins on the bus.
    Clocks begin_of(DramCommand command, Clocks at) const {
        return at + Clocks(1) - constants_->lengths[static_cast<std::size_t>(command)];
    }
    void issue(DramCommand command, const DramPlace& to, Clocks at);
    /// The second half of each ACTIVATE is a separate command, as long as the first.
    bool has_halves() const { return constants_->has_halves; }
    Clocks earliest_half(Clocks asked) const {
        return std::max(asked, bus_free_) +
               constants_->lengths[static_cast<std::size_t>(DramCommand::Activate)] - Clocks(1);
    }
    void issue_half(Clocks at) { bus_free_ = at + Clocks(1); }
    /// The open row closes without a separate command as soon as the rules allow.
    void close(const DramPlace& of);
    /// Closes all banks of a rank by one command and refreshes, begun in `due` or later; nothing of
    /// it can be activated until t_rfc after that.
    void refresh(std::uint32_t rank, Clocks due);

    std::optional<std::uint32_t> open_row(const DramPlace& of) const { return rows_[of.bank]; }
    /// First clock after all commands so far.
    Clocks bus_free() const { return bus_free_; }

 private:
    using Ready = std::array<Clocks, dram_commands>;  // first clock of each command
    struct Rank {
        Ready ready{};
        std::array<Clocks, 4> activated{};  // when each leaves the window of four
        std::size_t oldest = 0;
        Clocks window_left() const { return activated[oldest]; }
    };
    struct Hold {
        std::size_t scope;
        std::size_t next;
        Clocks gap;
    };
    /// Common to all copies.
    struct Constants {
        DramOrganisation organisation;
        DramTimings timing;
        std::array<Clocks, dram_commands> lengths;
        bool has_halves = false;
        Clocks refresh_length;
        std::array<std::vector<Hold>, dram_commands> holds;         // after each command
        std::array<std::vector<Hold>, dram_commands> holds_others;  // in the other ranks
    };
    static Constants constants_of(const DramConfig& config);
    void hold_back_other_ranks(DramCommand issued, const DramPlace& to, Clocks at);

    std::shared_ptr<const Constants> constants_;
    Ready channel_{};
    std::vector<Rank> ranks_;
    std::vector<Ready> groups_;
    std::vector<Ready> banks_;
    std::vector<std::optional<std::uint32_t>> rows_;  // of each bank
    Clocks bus_free_;
};

}  // namespace npuscope
