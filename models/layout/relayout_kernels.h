// SPDX-License-Identifier: Apache-2.0
// Transposes of blocks by vectors, for units of 1, 2, 4 or 8 bytes. Two shapes of memory meet:
//
//     rows        L rows, each a run of neighbouring columns
//     pieces      16 bytes for each column: its L units (or, with fewer, those of several columns)
//     groups      further L rows, whose pieces are the neighbours of the first ones
//
// L is a power of two with L * unit <= 16. Interleaving writes pieces out of rows, deinterleaving
// rows out of pieces. Both are perfect shuffles: log2 steps of interleaving pairs of registers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npuscope {

/// Rows of all groups that interleaving makes whole lines of.
constexpr std::size_t most_line_rows = 32;

/// `columns` is a multiple of 16 / unit. `piece` is the step from piece to piece: 16 where L * unit
/// is less than 16 bytes or columns lie together.
struct ShuffleShape {
    std::uint32_t unit = 1;
    std::uint32_t lanes = 16;
    std::size_t columns = 0;
    std::ptrdiff_t row = 0;    ///< bytes from row to row
    std::ptrdiff_t piece = 0;  ///< bytes from piece to piece
    std::size_t groups = 1;
    std::ptrdiff_t group_row = 0;  ///< bytes from a group's first row to that of the next
    /// From bytes of the source to those that a later call takes and that are fetched for it; 0:
    /// none are. Deinterleaving fetches pieces that lie together: `piece` is 16 * groups.
    std::ptrdiff_t ahead = 0;
    /// Written past the caches: columns fill the widest vectors, the target's lines are met whole.
    bool stream = false;
};

void interleave_rows(const ShuffleShape& shape, const std::uint8_t* rows, std::uint8_t* pieces);
void deinterleave_rows(const ShuffleShape& shape, const std::uint8_t* pieces, std::uint8_t* rows);

}  // namespace npuscope
