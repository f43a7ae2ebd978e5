// SPDX-License-Identifier: Apache-2.0
#include "models/link/block_mover.h"

#include <algorithm>

#include "models/link/clock.h"

namespace npuscope {

Cycles BlockMover::take_run(Activity& activity, AtomStream& stream, std::uint64_t atoms) {
    Cycles last;
    const std::uint64_t ahead = stream.atoms_ahead();
    for (std::uint64_t done = 0; done < atoms; done += ahead) {
        const std::uint64_t end = std::min(done + ahead, atoms);
        read_port_.wait_issued(activity, stream.beats_until(end));
        for (std::uint64_t atom = done; atom < end; ++atom) {
            last = stream.arrival(atom);
            stream.taken(last);
        }
    }
    return last;
}

Cycles BlockMover::move(Activity& activity, const BlockMoverSetup& setup,
                        const std::vector<MovedBlock>& blocks, const BlockMoverPurposes& purposes) {
    std::vector<ByteRun> runs;
    for (const MovedBlock& block : blocks) {
        runs.insert(runs.end(), block.reads.begin(), block.reads.end());
    }
    AtomStream stream(setup.stream, std::move(runs));
    read_port_.open(stream, purposes.read);
    Cycles response = now();
    for (const MovedBlock& block : blocks) {
        Cycles arrived;
        for (const ByteRun& run : block.reads) {
            arrived =
                take_run(activity, stream, divide_up(run.bytes.value, setup.stream.atom.value));
        }
        activity.wait_until(arrived + setup.forward, WaitKind::Starved, "input");
        for (const MovedBlock::Write& write : block.writes) {
            response = write_port_.write(activity, {write.address, write.bytes, now(), Cycles(1)},
                                         purposes.write);
        }
    }
    return response;
}

}  // namespace npuscope
