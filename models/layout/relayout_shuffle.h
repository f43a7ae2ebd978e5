// SPDX-License-Identifier: Apache-2.0
// Which loops of a nest a vector transpose takes.
//
//     interleaving    the source has rows (a loop of one unit there), the target pieces
//     deinterleaving  the source has pieces, the target rows
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "models/layout/relayout_plan.h"

namespace npuscope {

constexpr std::uint64_t piece_bytes = 16;

/// The nest as interleaving sees it: `row` is the side of rows, `piece` the other.
struct Sides {
    std::int64_t NestLoop::*row;
    std::int64_t NestLoop::*piece;
};
constexpr Sides interleaving{&NestLoop::from, &NestLoop::to};
constexpr Sides deinterleaving{&NestLoop::to, &NestLoop::from};

struct Shuffle {
    bool interleaves = true;
    std::size_t columns = 0;    ///< loop that steps through a row
    std::size_t lanes = 0;      ///< loop from row to row
    std::size_t continued = 0;  ///< loop that continues the row in pieces elsewhere, or none
    std::uint32_t width = 0;    ///< lanes of a piece
    /// Turns of the two loops that whole blocks cover; what is beyond goes another way.
    std::array<std::pair<std::size_t, std::uint64_t>, 2> whole{};
};

/// Nothing where no pair of loops suits.
std::optional<Shuffle> find_shuffle(const LoopNest& nest);

}  // namespace npuscope
