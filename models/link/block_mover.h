// SPDX-License-Identifier: Apache-2.0
// Moves bytes from memory to memory in blocks: some runs are read, then some are written. Reads run
// ahead of the writes as far as the latency FIFO goes. Either each byte leaves when it has arrived
// and gone through the unit, or a register file of two banks lies between: a bank is filled beat by
// beat, then read beat by beat in another order while the other one is filled. Writes leave in
// bursts. The bytes are known beforehand; this is about time and transactions. Blocks are made in
// portions, so that a large move needs little memory; between two portions the reads start anew.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

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
    std::vector<RegisterFill> fills{};  ///< where a register file is passed
};

/// The blocks of one move, made one by one when their turn has come.
struct MovedBlocks {
    std::uint64_t count = 0;
    std::function<MovedBlock(std::uint64_t number)> make;
    std::function<void(std::uint64_t number)> taken{};  ///< the block has been read
};

struct BlockMoverSetup {
    AtomStreamSetup stream;
    /// From the arrival of a burst's last byte to its first write; of the register file's last beat,
    /// where there is one, from its reading.
    Cycles forward{};
    std::optional<Cycles> fill_latency{};  ///< from a bank's last byte to its reading
    Bytes burst{256};                      ///< bursts end at multiples of it
};

struct BlockMoverPurposes {
    Purpose read;
    Purpose write;
};

class BlockMover {
 public:
    BlockMover(DmaPort& read_port, DmaPort& write_port)
        : read_port_(read_port), write_port_(write_port) {}

    /// Moves all blocks, one after the other; the last write's response.
    WriteResponse move(Activity& activity, const BlockMoverSetup& setup, const MovedBlocks& blocks,
                       const BlockMoverPurposes& purposes);

 private:
    void move_portion(Activity& activity, const BlockMoverSetup& setup, const MovedBlocks& all,
                      std::uint64_t& next, const BlockMoverPurposes& purposes);
    /// Waits until the next run has been issued; its atoms are taken when they arrive, none before
    /// `room`. When the last one was taken.
    Cycles take_run(Activity& activity, AtomStream& stream, const ByteRun& run, Cycles room);
    /// Takes what fills the next bank; the whole block where there is none. When the last was taken.
    Cycles take_reads(Activity& activity, AtomStream& stream, const MovedBlock& block);
    Cycles take_fill(Activity& activity, AtomStream& stream, const MovedBlock& block);
    /// When the byte before `end` of the block's bytes is there for its write.
    Cycles there(std::uint64_t end);
    /// Of the next write's bytes, so many that leave together.
    std::uint64_t next_burst(const MovedBlock::Write& write) const;
    /// Writes what is complete with the first `bytes` bytes of the block.
    void write_until(Activity& activity, const MovedBlock& block, std::uint64_t bytes,
                     const Purpose& purpose);
    WriteResponse write_burst(Activity& activity, const MovedBlock::Write& write,
                              std::uint64_t count, const Purpose& purpose);
    /// When each beat of the bus is there, of what is written next.
    void time_beats(const MovedBlock::Write& write, std::uint64_t count);

    DmaPort& read_port_;
    DmaPort& write_port_;
    BlockMoverSetup setup_;
    std::optional<RegisterFilePace> file_;
    bool nothing_written_ = true;  // of the move
    Cycles last_taken_;            // a beat of it
    std::vector<Cycles> taken_;    // the block's atoms, where no register file is passed
    WriteResponse response_{};     // to the last write
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
