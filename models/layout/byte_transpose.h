// SPDX-License-Identifier: Apache-2.0
// Transposes of small byte matrices in general-purpose registers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace npuscope {

/// One round of the 8 x 8 transpose: swaps the `mask` bytes of row a with those above in row b.
inline void exchange(std::uint64_t& a, std::uint64_t& b, unsigned bits, std::uint64_t mask) {
    const std::uint64_t difference = ((a >> bits) ^ b) & mask;
    b ^= difference;
    a ^= difference << bits;
}

/// Bytes [row][column] become [column][row].
inline void transpose8x8(std::array<std::uint64_t, 8>& rows) {
    for (std::size_t i : {0U, 1U, 2U, 3U}) {
        exchange(rows[i], rows[i + 4], 32, 0x00000000FFFFFFFFULL);
    }
    for (std::size_t i : {0U, 1U, 4U, 5U}) {
        exchange(rows[i], rows[i + 2], 16, 0x0000FFFF0000FFFFULL);
    }
    for (std::size_t i : {0U, 2U, 4U, 6U}) {
        exchange(rows[i], rows[i + 1], 8, 0x00FF00FF00FF00FFULL);
    }
}

/// Bytes of a matrix, its rows `pitch` bytes apart.
template <class Byte>
struct ByteMatrix {
    Byte* bytes;
    std::size_t pitch;

    Byte* at(std::size_t row, std::size_t column) const { return bytes + row * pitch + column; }
};

/// to[column][row] = from[row][column].
inline void transpose_bytes(std::size_t rows, std::size_t columns,
                            const ByteMatrix<const std::uint8_t>& from,
                            const ByteMatrix<std::uint8_t>& to) {
    constexpr std::size_t block = 8;
    const std::size_t whole_rows = rows / block * block;
    const std::size_t whole_columns = columns / block * block;
    std::array<std::uint64_t, block> words{};
    for (std::size_t row = 0; row < whole_rows; row += block) {
        for (std::size_t column = 0; column < whole_columns; column += block) {
            for (std::size_t i = 0; i < block; ++i) {
                std::memcpy(&words[i], from.at(row + i, column), block);
            }
            transpose8x8(words);
            for (std::size_t i = 0; i < block; ++i) {
                std::memcpy(to.at(column + i, row), &words[i], block);
            }
        }
    }
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = row < whole_rows ? whole_columns : 0; column < columns;
             ++column) {
            *to.at(column, row) = *from.at(row, column);
        }
    }
}

}  // namespace npuscope
