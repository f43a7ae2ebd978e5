// SPDX-License-Identifier: Apache-2.0
// Rows that leave a stage: copied to their places, through the caches or past them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace npuscope {

constexpr std::size_t line_bytes = 64;  // of a cache

/// `rows` of `run` bytes, one behind the other in the stage and `row` bytes apart in the target.
struct RowShape {
    std::size_t rows = 1;
    std::size_t run = 0;
    std::ptrdiff_t row = 0;
};

void spread_rows(const RowShape& shape, const std::uint8_t* stage, std::uint8_t* to);
/// The same past the caches: whole lines on the target's side.
void stream_rows(const RowShape& shape, const std::uint8_t* stage, std::uint8_t* to);
/// Fetches rows that are about to be written.
void fetch_rows(const RowShape& shape, const std::uint8_t* to);
/// Streamed bytes are seen by whoever reads next.
void end_streams();

/// Bytes of the widest vectors that the transposes use on this machine: a line at most.
std::size_t vector_bytes();

}  // namespace npuscope
