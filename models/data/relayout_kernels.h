// SPDX-License-Identifier: Apache-2.0
// Transposes of blocks by vectors, for units of 1, 2, 4 or 8 bytes. Two shapes of memory meet:
//
//     rows        L rows, each a run of neighbouring columns
//     pieces      16 bytes for each column: its L units (or, with fewer, those of several columns)
//
// L is a power of two with L * unit <= 16. Interleaving writes pieces out of rows, deinterleaving
// rows out of pieces. Both are perfect shuffles: log2 steps of interleaving pairs of registers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npuscope {

/// `columns` is a multiple of 16 / unit. `piece` is the step from piece to piece: 16 where L * unit
/// is less than 16 bytes or columns lie together.
struct ShuffleShape {
    std::uint32_t unit = 1;
    std::uint32_t lanes = 16;
    std::size_t columns = 0;
    std::ptrdiff_t row = 0;    ///< bytes from row to row
    std::ptrdiff_t piece = 0;  ///< bytes from piece to piece
    /// From a row's bytes to those that are fetched ahead.
    std::ptrdiff_t ahead = 0;
};

void interleave_rows(const ShuffleShape& shape, const std::uint8_t* rows, std::uint8_t* pieces);
void deinterleave_rows(const ShuffleShape& shape, const std::uint8_t* pieces, std::uint8_t* rows);

/// Copies past the caches; both 64-byte aligned on the target's side, whole lines.
void stream_bytes(const std::uint8_t* from, std::uint8_t* to, std::size_t bytes);
/// Streamed bytes are seen by whoever reads next.
void end_streams();

}  // namespace npuscope
