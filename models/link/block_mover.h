// SPDX-License-Identifier: Apache-2.0
// Moves bytes from memory to memory in blocks: some runs are read, then some are written. Reads run
// ahead of the writes as far as the latency FIFO goes; a block's writes leave, a beat a cycle, when
// its last byte has arrived and gone through the unit. The bytes are known beforehand; this is
// about time and transactions. Blocks are made in portions, so that a large move needs little
// memory; between two portions the reads start anew.
#pragma once

#include <cstdint>
#include <functional>
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
    std::vector<ByteRun> reads;
    std::vector<Write> writes;
};

/// The blocks of one move, made one by one when their turn has come.
struct MovedBlocks {
    std::uint64_t count = 0;
    std::function<MovedBlock(std::uint64_t number)> make;
};

struct BlockMoverSetup {
    AtomStreamSetup stream;
    Cycles forward{};  ///< from a block's last byte to its first write
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
    WriteResponse move_portion(Activity& activity, const BlockMoverSetup& setup,
                               const MovedBlocks& all, std::uint64_t& next,
                               const BlockMoverPurposes& purposes);
    /// Waits until the next run has been issued; the arrival of its last atom.
    Cycles take_run(Activity& activity, AtomStream& stream, std::uint64_t atoms);

    DmaPort& read_port_;
    DmaPort& write_port_;
};

}  // namespace npuscope
