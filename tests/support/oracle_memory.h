// SPDX-License-Identifier: Apache-2.0
// Memory of the plain oracle and the cubes in it. Every element's address is computed separately
// from the published formula; bytes never touched are zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tests/support/oracle_number.h"

namespace npuscope::oracle {

class Memory {
 public:
    std::uint8_t read(std::uint64_t address) const;
    void write(std::uint64_t address, std::uint8_t value);
    std::vector<std::uint8_t> bytes(std::uint64_t address, std::uint64_t count) const;
    /// Little-endian, two's complement.
    std::int64_t read_signed(std::uint64_t address, std::uint32_t count) const;

 private:
    std::unordered_map<std::uint64_t, std::vector<std::uint8_t>> pages_;
};

/// zlib's CRC-32, bit by bit.
std::uint32_t crc32(const std::vector<std::uint8_t>& bytes);

/// Values by channel, line and column. Channels include the pad lanes of the last atom.
struct Cube {
    Cube() = default;
    Cube(std::uint32_t channel_count, std::uint32_t line_count, std::uint32_t column_count)
        : channels(channel_count),
          height(line_count),
          width(column_count),
          values(std::size_t{channel_count} * line_count * column_count) {}

    std::int64_t& at(std::uint32_t c, std::uint32_t y, std::uint32_t x) {
        return values[(std::size_t{c} * height + y) * width + x];
    }
    std::int64_t at(std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
        return values[(std::size_t{c} * height + y) * width + x];
    }

    std::uint32_t channels = 0;
    std::uint32_t height = 0;
    std::uint32_t width = 0;
    std::vector<std::int64_t> values;
};

/// Calls function(c, y, x) for every element.
template <class Function>
void for_each_element(const Cube& cube, Function function) {
    for (std::uint32_t c = 0; c < cube.channels; ++c) {
        for (std::uint32_t y = 0; y < cube.height; ++y) {
            for (std::uint32_t x = 0; x < cube.width; ++x) {
                function(c, y, x);
            }
        }
    }
}

/// An int8 feature surface: byte of (c, y, x) = base + (c / atom) * surface_stride
/// + y * line_stride + x * atom + c mod atom.
/// source: NVDLA format page
struct Surface {
    std::uint64_t base = 0;
    std::uint64_t line_stride = 0;
    std::uint64_t surface_stride = 0;
    std::uint32_t atom = 8;
    std::uint32_t channels = 0;
    std::uint32_t height = 0;
    std::uint32_t width = 0;

    std::uint32_t lanes() const { return round_up(channels, atom); }
    std::uint64_t address(std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
        return base + c / atom * surface_stride + y * line_stride + std::uint64_t{x} * atom +
               c % atom;
    }
    /// Bytes from the base to past the last element.
    std::uint64_t bytes() const;
};

/// Every lane of every atom, pad lanes too.
Cube read_cube(const Surface& surface, const Memory& memory);
void write_cube(const Surface& surface, const Cube& cube, Memory& memory);

}  // namespace npuscope::oracle
