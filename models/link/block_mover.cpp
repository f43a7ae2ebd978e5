// SPDX-License-Identifier: Apache-2.0
#include "models/link/block_mover.h"

#include <algorithm>
#include <utility>

#include "models/link/clock.h"

namespace npuscope {
namespace {

/// Far more than the latency FIFO covers: a new portion costs next to nothing.
constexpr std::uint64_t portion_bytes = 16U << 20U;
constexpr std::uint64_t portion_runs = 1U << 16U;

/// Blocks from number `next` on, as many as fit one portion.
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

Cycles BlockMover::take_run(Activity& activity, AtomStream& stream, const ByteRun& run,
                            Cycles room) {
    const std::uint64_t atoms = divide_up(run.bytes.value, setup_.stream.atom.value);
    Cycles last;
    Cycles before;  // the arrival of the previous beat
    const std::uint64_t ahead =
        read_port_.look_ahead(stream.atoms_ahead(read_port_.longest_burst()));
    for (std::uint64_t done = 0; done < atoms; done += ahead) {
        const std::uint64_t end = std::min(done + ahead, atoms);
        read_port_.wait_issued(activity, stream.beats_until(end));
        for (std::uint64_t atom = done; atom < end; ++atom) {
            const Cycles arrives = stream.arrival(atom);
            if (atom == 0 || arrives != before) {  // beats enter one cycle apart
                const Cycles free = std::max(room, last_taken_ + Cycles(1));
                last = std::max(arrives, free);
                delayed_ += first_taken_ ? last - free : Cycles(0);
                first_taken_ = first_taken_.value_or(last);
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

Cycles BlockMover::take_fill(Activity& activity, AtomStream& stream, const MovedBlock& block) {
    const RegisterFill& fill = block.fills[block_.fills++];
    const Cycles room = file_->room();
    Cycles last;
    for (std::size_t i = 0; i < fill.reads; ++i) {
        last = take_run(activity, stream, block.reads[block_.reads++], room);
    }
    file_->fill(fill, last);
    return last;
}

Cycles BlockMover::take_reads(Activity& activity, AtomStream& stream, const MovedBlock& block) {
    if (file_) {
        return take_fill(activity, stream, block);
    }
    Cycles last;
    while (block_.reads < block.reads.size()) {
        last = take_run(activity, stream, block.reads[block_.reads++], Cycles(0));
    }
    return last;
}

Cycles BlockMover::there(std::uint64_t end) {
    return setup_.forward +
           (file_ ? file_->read_until(end) : taken_[(end - 1) / setup_.stream.atom.value]);
}

std::uint64_t BlockMover::next_burst(const MovedBlock::Write& write) const {
    const Address from = write.address + Bytes(block_.written);
    return std::min(write.bytes.size() - block_.written,
                    setup_.burst.value - from.value % setup_.burst.value);
}

void BlockMover::time_beats(const MovedBlock::Write& write, std::uint64_t count) {
    const std::uint64_t width = setup_.stream.beat.value;
    const std::uint64_t request = write.address.value;
    const std::uint64_t end = request + block_.written + count;
    beats_.clear();
    for (std::uint64_t beat = (request + block_.written) / width; beat * width < end; ++beat) {
        // a packet leaves with all of its bytes, counted from the start of the request
        const std::uint64_t in_beat = std::min(end, (beat + 1) * width) - request;
        const std::uint64_t packet = std::min(round_up(in_beat, width), write.bytes.size());
        beats_.push_back(there(block_.before + packet));
        if (nothing_written_) {  // its command goes when the data begins, the others' much earlier
            beats_.back() = std::max(beats_.back(),
                                     there(block_.before + 1) + Cycles(beat - request / width + 1));
        }
    }
}

WriteResponse BlockMover::write_burst(Activity& activity, const MovedBlock::Write& write,
                                      std::uint64_t count, const Purpose& purpose) {
    const Address from = write.address + Bytes(block_.written);
    OutgoingRun run{.address = from,
                    .bytes = std::span(write.bytes).subspan(block_.written, count),
                    .interval = Cycles(1),
                    .request = write.address};
    const std::uint64_t width = setup_.stream.beat.value;
    const Cycles earlier(divide_up((from + Bytes(count)).value, width) - from.value / width - 1);
    Cycles leaves;
    if (file_) {
        time_beats(write, count);
        run.beats = beats_;
        leaves = beats_.back();
    } else {
        leaves = there(block_.before + block_.written + count);
    }
    run.first = leaves - earlier;
    activity.wait_until(leaves, WaitKind::Starved, "input");
    const WriteResponse response = write_port_.write(activity, run, purpose);
    late_ = now() - leaves;
    if (file_) {
        std::uint64_t beat = (from.value / width + 1) * width - write.address.value;
        for (const Cycles left : beats_) {
            const std::uint64_t packet = std::min(round_up(beat, width), write.bytes.size());
            file_->left(block_.before + packet, left - setup_.forward);
            beat += width;
        }
    }
    return response;
}

void BlockMover::write_until(Activity& activity, const MovedBlock& block, std::uint64_t bytes,
                             const Purpose& purpose) {
    while (block_.writes < block.writes.size()) {
        const MovedBlock::Write& write = block.writes[block_.writes];
        const std::uint64_t count = next_burst(write);
        const std::uint64_t packets = round_up(block_.written + count, setup_.stream.beat.value);
        const std::uint64_t needed = std::min<std::uint64_t>(packets, write.bytes.size());
        if (block_.before + needed > bytes) {
            return;
        }
        response_ = write_burst(activity, write, count, purpose);
        block_.written += count;
        if (block_.written == write.bytes.size()) {
            nothing_written_ = false;
            block_.before += block_.written;
            block_.written = 0;
            ++block_.writes;
        }
    }
}

WriteResponse BlockMover::move(Activity& activity, const BlockMoverSetup& setup,
                               const MovedBlocks& blocks, const BlockMoverPurposes& purposes) {
    setup_ = setup;
    response_ = {now()};
    nothing_written_ = true;
    last_taken_ = {};
    first_taken_.reset();
    delayed_ = {};
    late_ = {};
    file_.reset();
    if (setup.fill_latency) {
        file_.emplace(*setup.fill_latency, setup.stream.beat);
    }
    BlockMoverSetup portion = setup;
    for (std::uint64_t next = 0; next < blocks.count;) {
        move_portion(activity, portion, blocks, next, purposes);
        portion.stream.first = now();
    }
    return response_;
}

CauseCycles BlockMover::causes_since(Cycles begin) const {
    const Cycles first = std::min(first_taken_.value_or(begin), now());
    CauseCycles causes;
    causes[Cause::StartUp] = first - begin;
    causes[Cause::Memory] = std::min(delayed_ + late_, now() - first);
    causes[Cause::Work] = now() - first - causes[Cause::Memory];
    return causes;
}

void BlockMover::move_portion(Activity& activity, const BlockMoverSetup& setup,
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
    for (MovedBlock& block : blocks) {
        block_ = {};
        taken_.clear();
        if (file_) {
            file_->begin_block();
        }
        Cycles taken;
        while (block_.reads < block.reads.size()) {
            taken = take_reads(activity, stream, block);
            if (file_ && !read_port_.values_arrive()) {
                write_until(activity, block, file_->filled(), purposes.write);
            }
        }
        if (read_port_.values_arrive()) {
            activity.wait_until(taken, WaitKind::Starved, "input");
            block = all.make(number);
        }
        if (all.taken) {
            all.taken(number);
        }
        ++number;
        write_until(activity, block, ~std::uint64_t{0}, purposes.write);
    }
}

}  // namespace npuscope
