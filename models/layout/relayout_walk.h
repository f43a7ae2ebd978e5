// SPDX-License-Identifier: Apache-2.0
// In which blocks and order a vector transpose goes through its nest, and how its target is
// written: in place, past the caches in whole lines, or collected in a stage first.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "models/layout/relayout_kernels.h"
#include "models/layout/relayout_plan.h"

namespace npuscope {

// Which loops of a nest a vector transpose takes.
//
//     interleaving    the source has rows (a loop of one unit there), the target pieces
//     deinterleaving  the source has pieces, the target rows

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
    /// Steps of the two loops that whole blocks cover; what is beyond goes another way.
    std::array<std::pair<std::size_t, std::uint64_t>, 2> whole{};
};

/// Nothing where no pair of loops suits.
std::optional<Shuffle> find_shuffle(const LoopNest& nest);

/// A block that is collected before it is written: rows that lie `row` bytes apart in the target.
struct StageShape {
    std::uint64_t rows = 0;
    std::uint64_t run = 0;  ///< bytes of a row; 0: no stage
    std::int64_t row = 0;

    std::uint64_t bytes() const { return rows * run; }
};

/// What the kernel does at each step of `outer` and `inner`.
struct ShuffleWalk {
    bool interleaves = true;
    ShuffleShape shape;
    std::vector<NestLoop> outer;  ///< slowest first
    std::vector<NestLoop> inner;  ///< of one block; its steps on the target's side are the stage's
    std::uint64_t bytes = 0;      ///< of a block
    StageShape stage;
    bool stream = false;  ///< past the caches, where the target begins with a line
    /// From a call of the kernel to the one whose source it fetches; 0: it fetches nothing.
    unsigned calls_ahead = 0;
    std::size_t along = 0;      ///< loop of the nest that was cut into blocks
    std::uint64_t covered = 0;  ///< its steps in whole blocks; the rest is a nest of its own

    /// Calls of the kernel for a block.
    std::uint64_t calls() const;
};

ShuffleWalk plan_shuffle(const LoopNest& nest, const Shuffle& shuffle, bool stream);

}  // namespace npuscope
