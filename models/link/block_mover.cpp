// SPDX-License-Identifier: Apache-2.0
#include "models/link/block_mover.h"

#include <algorithm>
#include <utility>

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

Cycles RegisterFilePace::room() const {
    const Cycles ended = ended_[banks_filled_ % ended_.size()];
    return ended - std::min(ended, latency_ - Cycles(1));
}

void RegisterFilePace::fill(const MovedBlock::Fill& fill, Cycles last) {
    const std::size_t bank = banks_filled_++ % ended_.size();
    Filled filled{0, fill, std::max(last + latency_, ended_[1 - bank])};
    if (!fills_.empty()) {
        const Filled& before = fills_.back();
        filled.begin = before.begin + before.fill.row.value * before.fill.rows;
    }
    ended_[bank] = filled.start + Cycles(beats_of_row(fill) * fill.rows);
    fills_.push_back(filled);
}

Cycles RegisterFilePace::read_until(std::uint64_t end) const {
    const auto after = std::ranges::lower_bound(fills_, end, {}, &Filled::begin);
    const Filled& filled = *std::prev(after);
    const std::uint64_t row = filled.fill.row.value;
    const std::uint64_t bytes = end - filled.begin;
    const std::uint64_t beats =
        bytes / row * beats_of_row(filled.fill) + divide_up(bytes % row, beat_.value);
    return filled.start + Cycles(beats - 1);
}

Cycles BlockMover::take_run(Activity& activity, AtomStream& stream, const ByteRun& run,
                            Cycles room) {
    const std::uint64_t atoms = divide_up(run.bytes.value, setup_.stream.atom.value);
    Cycles last;
    Cycles before;  // the arrival of the beat before
    const std::uint64_t ahead =
        read_port_.look_ahead(stream.atoms_ahead(read_port_.longest_burst()));
    for (std::uint64_t done = 0; done < atoms; done += ahead) {
        const std::uint64_t end = std::min(done + ahead, atoms);
        read_port_.wait_issued(activity, stream.beats_until(end));
        for (std::uint64_t atom = done; atom < end; ++atom) {
            const Cycles arrives = stream.arrival(atom);
            if (atom == 0 || arrives != before) {  // beats enter a cycle apart
                last = std::max({arrives, room, last_taken_ + Cycles(1)});
                last_taken_ = last;
            }
            before = arrives;
            stream.taken(last);
            if (!file_) {
                taken_.push_back(last);
            }
        }
        read_port_.room_made();
    }
    return last;
}

Cycles BlockMover::take_block(Activity& activity, AtomStream& stream, const MovedBlock& block) {
    Cycles last;
    taken_.clear();
    if (!file_) {
        for (const ByteRun& run : block.reads) {
            last = take_run(activity, stream, run, Cycles(0));
        }
        return last;
    }
    file_->begin_block();
    auto run = block.reads.begin();
    for (const MovedBlock::Fill& fill : block.fills) {
        const Cycles room = file_->room();
        for (std::size_t i = 0; i < fill.reads; ++i) {
            last = take_run(activity, stream, *run++, room);
        }
        file_->fill(fill, last);
    }
    return last;
}

Cycles BlockMover::there(std::uint64_t end) const {
    return setup_.forward +
           (file_ ? file_->read_until(end) : taken_[(end - 1) / setup_.stream.atom.value]);
}

WriteResponse BlockMover::write(Activity& activity, const MovedBlock::Write& write,
                                std::uint64_t before, const Purpose& purpose) {
    WriteResponse response{now()};
    const bool first = file_ && std::exchange(nothing_written_, false);
    const std::span<const std::uint8_t> bytes(write.bytes);
    for (std::uint64_t done = 0; done < bytes.size();) {
        const Address from = write.address + Bytes(done);
        const std::uint64_t count =
            std::min(bytes.size() - done, setup_.burst.value - from.value % setup_.burst.value);
        done += count;
        const std::uint64_t beat = setup_.stream.beat.value;
        const std::uint64_t beats = divide_up((from + Bytes(count)).value, beat);
        const Cycles earlier(beats - from.value / beat - 1);
        Cycles leaves = there(before + done);
        if (first) {  // its command goes when the data begins, the others' long before
            const Cycles of_write(beats - write.address.value / beat);
            leaves = std::max(leaves, there(before + 1) + of_write);
        }
        activity.wait_until(leaves, WaitKind::Starved, "input");
        response = write_port_.write(activity,
                                     {.address = from,
                                      .bytes = bytes.subspan(done - count, count),
                                      .first = leaves - earlier,
                                      .interval = Cycles(1),
                                      .request = write.address},
                                     purpose);
    }
    return response;
}

WriteResponse BlockMover::move(Activity& activity, const BlockMoverSetup& setup,
                               const MovedBlocks& blocks, const BlockMoverPurposes& purposes) {
    WriteResponse response{now()};
    setup_ = setup;
    nothing_written_ = true;
    last_taken_ = {};
    file_.reset();
    if (setup.fill_latency) {
        file_.emplace(*setup.fill_latency, setup.stream.beat);
    }
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
        const Cycles taken = take_block(activity, stream, block);
        if (read_port_.values_arrive()) {
            activity.wait_until(taken, WaitKind::Starved, "input");
            block = all.make(number);
        }
        if (all.taken) {
            all.taken(number);
        }
        ++number;
        std::uint64_t written = 0;
        for (const MovedBlock::Write& run : block.writes) {
            response = write(activity, run, written, purposes.write);
            written += run.bytes.size();
        }
    }
    return response;
}

}  // namespace npuscope
