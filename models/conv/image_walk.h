// SPDX-License-Identifier: Apache-2.0
// Which bytes of a line of pixels meet which weights. A kernel's row of C' bytes is taken in blocks
// of the MAC cells' width, block after block for a stripe of outputs. For every block the sequencer
// keeps the place of the last byte that the stripe's first output needs; from it follows which
// entries of the buffer are read.
//
// Hardware that miscounts adds the last block's width where it should have added a whole block's:
// - its count of blocks runs on, cycle by cycle, while a stripe of one output stands, which hurts
//   rows of four blocks and more from the fourth on;
// - it takes C' = 8 n + 1 for n blocks: of three blocks or more the last two are hurt.
// Where C' is a multiple of a block's width both add the same.
// source: nv_small RTL, NV_NVDLA_CSC_dl.v channel_op_cnt and total_channel_op, replayed
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace npuscope {

struct ImageWalk {
    std::uint32_t row_bytes = 0;  ///< of a kernel: columns x channels, C'
    std::uint32_t step = 1;       ///< bytes from one output's window to the next one's
    std::uint32_t width = 8;      ///< bytes of a block, and of an entry of the buffer
    std::uint32_t shortest = 8;   ///< cycles that a block takes at least
    bool miscounts = false;

    std::uint32_t blocks() const { return (row_bytes + width - 1) / width; }
    /// Bytes of a block.
    std::uint32_t bytes_of(std::uint32_t block) const {
        return block + 1 < blocks() ? width : row_bytes - block * width;
    }
    /// For every block of a stripe of `length` outputs: the byte, counted from the stripe's first,
    /// up to which its first output is taken to reach.
    std::vector<std::uint32_t> reaches(std::uint32_t length) const;
};

/// The columns of an image's outputs, and how many of them make a stripe.
struct ImageRow {
    std::uint32_t outputs = 1;
    std::uint32_t stripe = 16;

    /// Of the stripe that begins with this column.
    std::uint32_t length_at(std::uint32_t column) const {
        return outputs - column < stripe ? outputs - column : stripe;
    }
};

/// Where wrong bytes are met first.
struct Miscount {
    std::uint32_t block = 0;
    std::uint32_t column = 0;  ///< of the outputs: first of its stripe
};

/// Nothing where all is right.
std::optional<Miscount> find_miscount(const ImageWalk& walk, const ImageRow& row);

/// Columns of zeros that a kernel of `channels` needs so that all is right.
std::uint32_t columns_to_add(ImageWalk walk, const ImageRow& row, std::uint32_t channels);

/// The first block of a stripe that meets wrong bytes; nothing where all is right.
std::optional<std::uint32_t> first_wrong_block(const ImageWalk& walk, std::uint32_t length);

/// The byte, counted from the stripe's first, that a lane of a block meets; nothing: it meets zero.
/// `reach`: of the block in its stripe; `output`: in the stripe.
std::optional<std::uint32_t> met_byte(const ImageWalk& walk, std::uint32_t block,
                                      std::uint32_t reach, std::uint32_t output,
                                      std::uint32_t lane);

}  // namespace npuscope
