// SPDX-License-Identifier: Apache-2.0
// When the beats of a register file of two banks are read: a bank is filled beat by beat, then read
// row by row while the other one is filled. What is read goes through a pipe and a FIFO of half beats
// to the writes; where those are slower, it waits. Times only. Source: NV_NVDLA_RUBIK_rf_ctrl.v,
// NV_NVDLA_RUBIK_rf_core.v and NV_NVDLA_RUBIK_wr_req.v; nv_full RTL, simulated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/base/quantity.h"

namespace npuscope {

/// What fills a bank of the register file: so many of a block's reads, of which rows of so many bytes
/// are read out, each in whole beats.
struct RegisterFill {
    std::size_t reads = 0;
    Bytes row;
    std::uint64_t rows = 0;
};

class RegisterFilePace {
 public:
    RegisterFilePace(Cycles fill_latency, Bytes beat) : latency_(fill_latency), beat_(beat) {}

    /// No beat is filled in, in terms of its arrival, before.
    Cycles room();
    /// A bank is full with what was taken in at `last`.
    void fill(const RegisterFill& fill, Cycles last);
    /// When the beat is read that holds the byte before `end` of the block's bytes.
    Cycles read_until(std::uint64_t end);
    /// What ends with that byte left for memory when it would have left if it had been read at
    /// `as_read`. Said in the order of the bytes.
    void left(std::uint64_t end, Cycles as_read) { left_.push_back({block_ + end, as_read}); }
    /// The bytes that were filled in so far begin anew.
    void begin_block();
    /// Bytes of the block that were filled in.
    std::uint64_t filled() const { return bytes_ - block_; }

 private:
    // bytes and beats are counted over the whole move
    struct Filled {
        RegisterFill fill{};
        Cycles full;
        std::uint64_t begin = 0;  // bytes before it
        std::uint64_t first = 0;  // its first beat
    };
    struct Packet {
        std::uint64_t end = 0;
        Cycles as_read;
    };
    std::uint64_t beats_of_row(const RegisterFill& fill) const {
        return divide_up(fill.row.value, beat_.value);
    }
    std::uint64_t beats_of(const Filled& filled) const {
        return beats_of_row(filled.fill) * filled.fill.rows;
    }
    void read_next();
    /// When the FIFO has room for what ends with that byte, as far as is known.
    Cycles room_behind(std::uint64_t end);

    Cycles latency_;
    Bytes beat_;
    std::deque<Filled> fills_;  // of the block, and those with beats that were not read
    std::uint64_t banks_filled_ = 0;
    std::uint64_t bytes_ = 0;     // filled in
    std::uint64_t beats_ = 0;     // likewise
    std::uint64_t block_ = 0;     // bytes before it
    std::size_t reading_ = 0;     // place in fills_ of the next beat that is read
    Cycles read_free_;            // the next beat is read then at the earliest
    std::vector<Cycles> pushed_;  // beats, as if none had waited after its reading
    std::uint64_t pushed_before_ = 0;
    std::array<Cycles, 3> in_pipe_{};  // the last of them
    std::deque<Packet> left_;
    std::array<Cycles, 2> ended_{};  // after the last beat that was read of a bank
};

}  // namespace npuscope
