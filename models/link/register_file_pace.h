// SPDX-License-Identifier: Apache-2.0
// When the beats of a two-bank register file are read: a bank is filled beat by beat, then read row
// by row while the other one is filled. What is read goes through a pipe and a FIFO of half beats
// to the writes; if those are slower, it waits. Times only. Source: NV_NVDLA_RUBIK_rf_ctrl.v,
// NV_NVDLA_RUBIK_rf_core.v and NV_NVDLA_RUBIK_wr_req.v; nv_full RTL, simulated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "models/base/quantity.h"

namespace npuscope {

/// What fills a bank of the register file: a number of a block's reads, from which rows of `row`
/// bytes are read out, each in whole beats.
struct RegisterFill {
    std::size_t reads = 0;
    Bytes row;
    std::uint64_t rows = 0;
};

class RegisterFilePace {
 public:
    RegisterFilePace(Cycles fill_latency, Bytes beat) : latency_(fill_latency), beat_(beat) {}

    /// No beat that arrives before this is filled in.
    Cycles room();
    /// A bank is full with the data taken at `last`.
    void fill(const RegisterFill& fill, Cycles last);
    /// When the beat with the byte before `end` of the block's bytes is read.
    Cycles read_until(std::uint64_t end);
    /// What ends with that byte left for memory as if it had been read at `as_read`. To be called
    /// in byte order.
    void left(std::uint64_t end, Cycles as_read) { left_.push_back({block_ + end, as_read}); }
    /// Restarts the count of filled bytes.
    void begin_block();
    /// Bytes of the block filled in so far.
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
    /// When the FIFO has room for what ends with that byte, as far as known.
    Cycles room_behind(std::uint64_t end);

    Cycles latency_;
    Bytes beat_;
    std::deque<Filled> fills_;  // of the block, and those with beats that were not read
    std::uint64_t banks_filled_ = 0;
    std::uint64_t bytes_ = 0;     // filled in
    std::uint64_t beats_ = 0;     // filled in
    std::uint64_t block_ = 0;     // bytes before the block
    std::size_t reading_ = 0;     // index in fills_ of the next beat to be read
    Cycles read_free_;            // earliest time of the next beat's reading
    std::vector<Cycles> pushed_;  // beats, as if none had waited after being read
    std::uint64_t pushed_before_ = 0;
    std::array<Cycles, 3> in_pipe_{};  // the last of them
    std::deque<Packet> left_;
    std::array<Cycles, 2> ended_{};  // after the last beat read from a bank
};

}  // namespace npuscope
