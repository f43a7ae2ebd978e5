// SPDX-License-Identifier: Apache-2.0
// The channel, rank, bank, row and column of a byte. The mapping is a list of fields from high to
// low, `row rank bank column bank_group channel`; below the last one are the bytes of a burst. A
// field may be split into pieces: `column:4` has four bits, and the piece without a number has the
// rest. Every field is a power of two except the first, whose upper end is arbitrary (6 Gb parts).
// A pure value: no time, no state. Not modelled: fields mixed by exclusive or.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "models/memory/memory_config.h"

namespace npuscope {

/// Location of a burst. `column` counts columns and is a multiple of the burst length.
struct DramLocation {
    std::uint32_t channel = 0;
    std::uint32_t rank = 0;
    std::uint32_t bank_group = 0;
    std::uint32_t bank = 0;
    std::uint32_t row = 0;
    std::uint32_t column = 0;

    bool operator==(const DramLocation&) const = default;
};

class DramAddressMap {
 public:
    /// ConfigError if the mapping is no bijection of the organisation's bytes.
    explicit DramAddressMap(const DramConfig& config);

    /// The burst that holds byte `offset` of the DRAM, which is below its capacity.
    DramLocation decode(Bytes offset) const;
    /// First byte of a burst.
    Bytes encode(const DramLocation& location) const;
    /// ConfigError unless `bytes` bytes fit into the DRAM.
    void expect_room(const std::string& region, Bytes bytes) const;

    Bytes capacity() const { return capacity_; }
    Bytes burst_bytes() const { return Bytes(std::uint64_t{1} << burst_bits_); }
    /// Number of a burst: what two bytes have in common when one command moves both.
    std::uint64_t burst_of(Bytes offset) const { return offset.value >> burst_bits_; }

 private:
    using Values = std::array<std::uint32_t, 6>;
    struct Piece {
        std::size_t field;        // index in DramLocation's order
        unsigned bits;            // width; 64 for the first, which has no upper end
        unsigned shift_in_byte;   // of its lowest bit in the byte offset
        unsigned shift_in_field;  // of its lowest bit in the field
    };
    std::vector<Piece> read_pieces(const DramConfig& config) const;
    void place_pieces(const DramConfig& config);

    std::vector<Piece> pieces_;  // high to low
    Bytes capacity_;
    unsigned burst_bits_ = 0;
    unsigned column_bits_ = 0;  // of the burst length, below the field `column`
};

}  // namespace npuscope
