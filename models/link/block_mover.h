// SPDX-License-Identifier: Apache-2.0
// Moves bytes from memory to memory in blocks: some runs are read, then some are written. Reads run
// ahead of the writes as far as the latency FIFO goes. Either each byte leaves when it has arrived
// and gone through the unit, or a register file of two banks lies between: a bank is filled beat by
// beat, then read beat by beat in another order while the other one is filled. Writes leave in
// bursts. Not modelled: writes that hold the reading of a bank back. The bytes are known
// beforehand; this is about time and transactions. Blocks are made in portions, so that a large move needs little
// memory; between two portions the reads start anew.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "models/link/activity.h"
#include "models/link/atom_stream.h"
#include "models/link/dma_port.h"

namespace npuscope {

struct MovedBlock {
    /// Bytes for one run of memory.
    struct Write {
        Address address;
        std::vector<std::uint8_t> bytes;
    };
    /// What fills a bank of the register file: so many of the reads, of which rows of so many bytes
    /// are read out, each in whole beats.
    struct Fill {
        std::size_t reads = 0;
        Bytes row;
        std::uint64_t rows = 0;
    };
    std::vector<ByteRun> reads;
    std::vector<Write> writes;
    std::vector<Fill> fills{};  ///< where a register file is passed
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

/// When the beats of a register file of two banks are read. Source: NV_NVDLA_RUBIK_rf_ctrl.v.
class RegisterFilePace {
 public:
    RegisterFilePace(Cycles fill_latency, Bytes beat) : latency_(fill_latency), beat_(beat) {}

    /// No beat is filled in, in terms of its arrival, before.
    Cycles room() const;
    /// A bank is full with what was taken in at `last`.
    void fill(const MovedBlock::Fill& fill, Cycles last);
    /// When the beat is read that holds the byte before `end` of the last fills' bytes.
    Cycles read_until(std::uint64_t end) const;
    /// The bytes that were filled in so far begin anew.
    void begin_block() { fills_.clear(); }

 private:
    struct Filled {
        std::uint64_t begin = 0;  // bytes of the block before it
        MovedBlock::Fill fill{};
        Cycles start{};  // of its first beat read
    };
    std::uint64_t beats_of_row(const MovedBlock::Fill& fill) const {
        return divide_up(fill.row.value, beat_.value);
    }
    Cycles latency_;
    Bytes beat_;
    std::vector<Filled> fills_;
    std::uint64_t banks_filled_ = 0;
    std::array<Cycles, 2> ended_{};  // after the last beat that was read of a bank
};

class BlockMover {
 public:
    BlockMover(DmaPort& read_port, DmaPort& write_port)
        : read_port_(read_port), write_port_(write_port) {}

    /// Moves all blocks, one after the other; the last write's response.
    WriteResponse move(Activity& activity, const BlockMoverSetup& setup, const MovedBlocks& blocks,
                       const BlockMoverPurposes& purposes);

 private:
    WriteResponse move_portion(Activity& activity, const BlockMoverSetup& setup,
                               const MovedBlocks& all, std::uint64_t& next,
                               const BlockMoverPurposes& purposes);
    /// Waits until the next run has been issued; its atoms are taken when they arrive, none before
    /// `room`. When the last one was taken.
    Cycles take_run(Activity& activity, AtomStream& stream, const ByteRun& run, Cycles room);
    Cycles take_block(Activity& activity, AtomStream& stream, const MovedBlock& block);
    /// When the byte before `end` of the block's bytes is there for its write.
    Cycles there(std::uint64_t end) const;
    WriteResponse write(Activity& activity, const MovedBlock::Write& write, std::uint64_t before,
                        const Purpose& purpose);

    DmaPort& read_port_;
    DmaPort& write_port_;
    BlockMoverSetup setup_;
    std::optional<RegisterFilePace> file_;
    bool nothing_written_ = true;  // of the move
    Cycles last_taken_;            // a beat of it
    std::vector<Cycles> taken_;    // the block's atoms, where no register file is passed
};

}  // namespace npuscope
