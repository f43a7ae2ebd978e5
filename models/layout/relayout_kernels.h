// SPDX-License-Identifier: Apache-2.0
// Vectorised block transposes for units of 1, 2, 4 or 8 bytes, between two shapes of memory:
//
//     rows        L rows, each a run of neighbouring columns
//     pieces      16 bytes for each column: its L units (or, with fewer, those of several columns)
//     groups      further L rows, whose pieces are the neighbours of the first ones
//
// L is a power of two with L * unit <= 16. Interleaving converts rows to pieces, deinterleaving
// pieces to rows. Both are perfect shuffles: log2 steps of interleaving pairs of registers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace npuscope {

/// Rows of all groups that interleaving combines into whole lines.
constexpr std::size_t most_line_rows = 32;

/// `columns` is a multiple of 16 / unit. `piece` is the step from piece to piece: 16 where L * unit
/// is less than 16 bytes or columns are contiguous.
struct ShuffleShape {
    std::uint32_t unit = 1;
    std::uint32_t lanes = 16;
    std::size_t columns = 0;
    std::ptrdiff_t row = 0;    ///< bytes from row to row
    std::ptrdiff_t piece = 0;  ///< bytes from piece to piece
    std::size_t groups = 1;
    std::ptrdiff_t group_row = 0;  ///< bytes from a group's first row to that of the next
    /// Distance from bytes of the source to those that are prefetched for a later call; 0: no
    /// prefetch. Deinterleaving prefetches contiguous pieces: `piece` is 16 * groups.
    std::ptrdiff_t ahead = 0;
    /// Written with non-temporal stores: columns fill the widest vectors, and whole target lines
    /// are written.
    bool stream = false;
};

void interleave_rows(const ShuffleShape& shape, const std::uint8_t* rows, std::uint8_t* pieces);
void deinterleave_rows(const ShuffleShape& shape, const std::uint8_t* pieces, std::uint8_t* rows);

// Rows leaving a staging buffer: copied to their targets, through the caches or bypassing them.

constexpr std::size_t line_bytes = 64;  // of a cache

/// `rows` of `run` bytes, one after the other in the stage and `row` bytes apart in the target.
struct RowShape {
    std::size_t rows = 1;
    std::size_t run = 0;
    std::ptrdiff_t row = 0;
};

void spread_rows(const RowShape& shape, const std::uint8_t* stage, std::uint8_t* to);
/// The same, bypassing the caches: the target is written in whole cache lines.
void stream_rows(const RowShape& shape, const std::uint8_t* stage, std::uint8_t* to);
/// Prefetches rows that are about to be written.
void fetch_rows(const RowShape& shape, const std::uint8_t* to);
/// Makes streamed bytes visible to the next reader.
void end_streams();

/// Bytes of the widest vectors that the transposes use on this machine: at most a line.
std::size_t vector_bytes();

// Sizes of steps through memory, and counts that divide.

inline std::uint64_t size_of(std::int64_t step) {
    return static_cast<std::uint64_t>(std::abs(step));
}

/// Whether the step goes from cache line to cache line.
inline bool is_aligned(std::int64_t step) { return size_of(step) % line_bytes == 0; }

/// Of `count`; at most `most`, at least 1.
inline std::uint64_t largest_divisor(std::uint64_t count, std::uint64_t most) {
    std::uint64_t divisor = std::max<std::uint64_t>(std::min(count, most), 1);
    while (count % divisor != 0) {
        --divisor;
    }
    return divisor;
}

}  // namespace npuscope
