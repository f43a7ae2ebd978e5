// SPDX-License-Identifier: Apache-2.0
#include "models/link/block_mover.h"

#include <algorithm>

#include "models/link/clock.h"

namespace npuscope {
namespace {

/// Far more than the latency FIFO covers: a new portion costs nothing to speak of.
constexpr std::uint64_t portion_bytes = 16U << 20U;
constexpr std::uint64_t portion_runs = 1U << 16U;

/// Blocks from number `next` on, as many as one portion takes.
std::vector<MovedBlock> portion_of(const MovedBlocks& blocks, std::uint64_t& next) {
    std::vector<MovedBlock> portion;
    std::uint64_t bytes = 0;
    std::uint64_t runs = 0;
    while (next < blocks.count && bytes < portion_bytes && runs < portion_runs) {
        portion.push_back(blocks.make(next++));
        for (const ByteRun& run : portion.back().reads) {
            bytes += run.bytes.value;
            ++runs;
        }
    }
    return portion;
}

}  // namespace

Cycles BlockMover::take_run(Activity& activity, AtomStream& stream, std::uint64_t atoms) {
    Cycles last;
    const std::uint64_t ahead = read_port_.look_ahead(stream.atoms_ahead());
    for (std::uint64_t done = 0; done < atoms; done += ahead) {
        const std::uint64_t end = std::min(done + ahead, atoms);
        read_port_.wait_issued(activity, stream.beats_until(end));
        for (std::uint64_t atom = done; atom < end; ++atom) {
            last = stream.arrival(atom);
            stream.taken(last);
        }
        read_port_.room_made();
    }
    return last;
}

WriteResponse BlockMover::move(Activity& activity, const BlockMoverSetup& setup,
                               const MovedBlocks& blocks, const BlockMoverPurposes& purposes) {
    WriteResponse response{now()};
    BlockMoverSetup portion = setup;
    for (std::uint64_t next = 0; next < blocks.count;) {
        response = move_portion(activity, portion, blocks, next, purposes);
        portion.stream.first = now();
    }
    return response;
}

WriteResponse BlockMover::move_portion(Activity& activity, const BlockMoverSetup& setup,
                                       const MovedBlocks& all, std::uint64_t& next,
                                       const BlockMoverPurposes& purposes) {
    std::uint64_t number = next;
    std::vector<MovedBlock> blocks = portion_of(all, next);
    std::vector<ByteRun> runs;
    for (const MovedBlock& block : blocks) {
        runs.insert(runs.end(), block.reads.begin(), block.reads.end());
    }
    AtomStream stream(setup.stream, std::move(runs));
    read_port_.open(stream, purposes.read);
    WriteResponse response{now()};
    for (MovedBlock& block : blocks) {
        Cycles arrived;
        for (const ByteRun& run : block.reads) {
            arrived =
                take_run(activity, stream, divide_up(run.bytes.value, setup.stream.atom.value));
        }
        activity.wait_until(arrived + setup.forward, WaitKind::Starved, "input");
        if (read_port_.values_arrive()) {
            block = all.make(number);
        }
        ++number;
        for (const MovedBlock::Write& write : block.writes) {
            response = write_port_.write(activity, {write.address, write.bytes, now(), Cycles(1)},
                                         purposes.write);
        }
    }
    return response;
}

}  // namespace npuscope
