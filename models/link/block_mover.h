// SPDX-License-Identifier: Apache-2.0
// Moves bytes from memory to memory in blocks: some runs are read, then some are written. Reads run
// ahead of the writes as far as the latency FIFO goes. Either each byte leaves when it has arrived
// and passed the unit, or there is a two-bank register file in between: a bank is filled beat by
// beat, then read beat by beat in another order while the other one is filled. Writes leave in
// bursts. The bytes are known beforehand; this models only time and transactions. Blocks are made
// in portions, so that a large move needs little memory; between two portions the reads restart.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "models/base/statistics.h"
#include "models/link/activity.h"
#include "models/link/atom_stream.h"
#include "models/link/dma_port.h"
#include "models/link/register_file_pace.h"

namespace npuscope {

struct MovedBlock {
    /// Bytes for one run of memory.
    struct Write {
        Address address;
        std::vector<std::uint8_t> bytes;
    };
    std::vector<ByteRun> reads;
    std::vector<Write> writes;
    std::vector<RegisterFill> fills{};  ///< if there is a register file
};

/// The blocks of one move, made one by one when needed.
struct MovedBlocks {
    std::uint64_t count = 0;
    std::function<MovedBlock(std::uint64_t number)> make;
    std::function<void(std::uint64_t number)> taken{};  ///< the block has been read
};

struct BlockMoverSetup {
    AtomStreamSetup stream;
    /// From the arrival of a burst's last byte to its first write; with a register file, from the
    /// reading of its last beat.
    Cycles forward{};
    std::optional<Cycles> fill_latency{};  ///< from a bank's last byte to the start of its reading
    Bytes burst{256};                      ///< bursts end at multiples of this
};

struct BlockMoverPurposes {
    Purpose read;
    Purpose write;
};

class BlockMover {
 public:
    BlockMover(DmaPort& read_port, DmaPort& write_port)
        : read_port_(read_port), write_port_(write_port) {}

    /// Moves all blocks, one after the other; returns the last write's response.
    WriteResponse move(Activity& activity, const BlockMoverSetup& setup, const MovedBlocks& blocks,
                       const BlockMoverPurposes& purposes);
    /// Where the time of the last move went that began at `begin`, up to now: until its first beat
    /// came in, delays by memory, and the rest.
    CauseCycles causes_since(Cycles begin) const;

 private:
    void move_portion(Activity& activity, const BlockMoverSetup& setup, const MovedBlocks& all,
                      std::uint64_t& next, const BlockMoverPurposes& purposes);
    /// Waits until the next run has been issued; its atoms are taken when they arrive, none before
    /// `room`. Returns when the last one was taken.
    Cycles take_run(Activity& activity, AtomStream& stream, const ByteRun& run, Cycles room);
    /// Takes what fills the next bank, or the whole block; returns when the last byte was taken.
    Cycles take_reads(Activity& activity, AtomStream& stream, const MovedBlock& block);
    Cycles take_fill(Activity& activity, AtomStream& stream, const MovedBlock& block);
    /// When the byte before `end` of the block's bytes is available for its write.
    Cycles there(std::uint64_t end);
    /// How many of the next write's bytes leave together.
    std::uint64_t next_burst(const MovedBlock::Write& write) const;
    /// Writes what is complete with the first `bytes` bytes of the block.
    void write_until(Activity& activity, const MovedBlock& block, std::uint64_t bytes,
                     const Purpose& purpose);
    WriteResponse write_burst(Activity& activity, const MovedBlock::Write& write,
                              std::uint64_t count, const Purpose& purpose);
    /// When each bus beat of the next write is available.
    void time_beats(const MovedBlock::Write& write, std::uint64_t count);

    DmaPort& read_port_;
    DmaPort& write_port_;
    BlockMoverSetup setup_;
    std::optional<RegisterFilePace> file_;
    bool nothing_written_ = true;  // in this move
    Cycles last_taken_;            // when a beat of it was taken
    std::optional<Cycles> first_taken_{};
    Cycles delayed_;             // of reads after the first beat, by memory
    Cycles late_;                // from when the last burst was ready to when memory had taken it
    std::vector<Cycles> taken_;  // the block's atoms, without a register file
    WriteResponse response_{};   // to the last write
    // how far the block has come
    struct Progress {
        std::size_t reads = 0;
        std::size_t fills = 0;
        std::size_t writes = 0;
        std::uint64_t before = 0;   // bytes of the block before the next write
        std::uint64_t written = 0;  // bytes of that write
    };
    Progress block_;
    std::vector<Cycles> beats_;  // of the burst
};

}  // namespace npuscope
