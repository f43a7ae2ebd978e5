// SPDX-License-Identifier: Apache-2.0
// What every bank, bank group, rank and channel of a DRAM remembers: which row is open and when
// each command may come next. Commands are issued by somebody else (dram_timing.h); one that comes
// too early is a bug of ours. Not modelled: the command bus itself, which takes one command a
// clock.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "models/memory/dram_address.h"
#include "models/memory/dram_rules.h"

namespace npuscope {

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

}  // namespace npuscope
