// SPDX-License-Identifier: Apache-2.0
// The timing of a DRAM as rows: after one command, the earliest clock of another, to the same bank,
// bank group, rank or channel, or to the other ranks of a channel. The rows hold for every family
// from DDR3 to LPDDR5; what differs is the numbers (and rows that come out as zero).
#pragma once

#include <array>
#include <vector>

#include "models/memory/dram_config.h"

namespace npuscope {

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

}  // namespace npuscope
