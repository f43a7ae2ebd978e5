// SPDX-License-Identifier: Apache-2.0
#include "models/link/atom_stream.h"

#include <algorithm>

#include "models/base/check.h"

namespace npuscope {
namespace {

/// From an atom being taken to its slot in the consumer's buffer being refilled.
/// source: nv_small RTL, measured (PDP and CDP)
constexpr Cycles kRefill{2};
/// A run leaves the queue this long after the previous one has been taken, or after its first
/// atom's slot has begun. source: nv_small RTL at latencies up to 800, measured (PDP)
constexpr Cycles kAfterRun{1};
constexpr Cycles kAfterStart{1};

}  // namespace

AtomStream::AtomStream(const AtomStreamSetup& setup, std::vector<ByteRun> runs)
    : setup_(setup),
      runs_(std::move(runs)),
      buffer_(std::max<std::uint64_t>(setup.limits.buffer, 1) *
              divide_up(setup.atom.value, setup.beat.value)),
      places_(setup.beat, runs_) {
    const std::uint64_t of_two = divide_up(2 * setup_.atom.value, setup_.beat.value);
    setup_.limits.beats = std::max(setup_.limits.beats, std::max<std::uint64_t>(of_two, 2));
    setup_.limits.runs = std::max<std::uint64_t>(setup_.limits.runs, 1);
    for (const ByteRun& run : runs_) {
        total_beats_ += beats_of(run);
    }
    arrivals_.reserve(total_beats_);
    places_.reserve(total_beats_);
    taken_.reserve(total_beats_);
}

std::uint64_t AtomStream::beats_of(const ByteRun& run) const {
    const std::uint64_t begin = run.address.value / setup_.beat.value;
    return divide_up(run.address.value + run.bytes.value, setup_.beat.value) - begin;
}

std::uint64_t AtomStream::atoms_ahead(std::uint64_t burst) const {
    // the first and the last beat may be shared with others
    const std::uint64_t beats = setup_.limits.beats - std::min(setup_.limits.beats, burst);
    const std::uint64_t bytes = beats * setup_.beat.value;
    return std::max<std::uint64_t>(bytes / setup_.atom.value, 1);
}

std::optional<Cycles> AtomStream::left_fifo(std::uint64_t place) const {
    if (!places_.is_filled(place, arrivals_) || place >= taken_.size() + buffer_) {
        return std::nullopt;
    }
    const Cycles room = place < buffer_ ? Cycles(0) : taken_[place - buffer_] + kRefill;
    return std::max(places_.filled(place, arrivals_), room);
}

// source: NV_NVDLA_PDP_RDMA_eg.v and NV_NVDLA_CDP_RDMA_eg.v, tran_rdy
std::optional<Cycles> AtomStream::left_queue(std::size_t run) const {
    const std::optional<Cycles> slot = setup_.limits.slot;
    if (slot && run > 0 && run <= ended_.size() && queued_[run] <= ended_[run - 1]) {
        return ended_[run - 1] + kAfterRun;
    }
    if (run >= started_.size()) {
        return std::nullopt;
    }
    return slot ? started_[run] + kAfterStart - std::min(started_[run], *slot) : started_[run];
}

std::optional<Cycles> AtomStream::room_for(std::uint64_t further) const {
    const AtomStreamLimits& limits = setup_.limits;
    Cycles room = setup_.first;
    const ByteRun& run = runs_[asked_run_];
    const std::uint64_t beat = asked_in_run_ + further;
    const std::uint64_t filled = places_.until(run, beat + 1);
    const std::uint64_t places = places_.asked() + filled - places_.until(run, asked_in_run_);
    const std::optional<std::uint64_t> awaited = places_.awaited(places, limits.beats);
    if (awaited && filled > places_.until(run, beat)) {
        const std::optional<Cycles> left = left_fifo(*awaited);
        if (!left) {
            return std::nullopt;
        }
        room = std::max(room, *left + limits.give_back);
    }
    if (asked_in_run_ + further == 0 && asked_run_ >= limits.runs) {
        const std::optional<Cycles> left = left_queue(asked_run_ - limits.runs);
        if (!left) {
            return std::nullopt;
        }
        room = std::max(room, *left + kRefill + limits.give_back);
    }
    return room;
}

std::optional<ReadBurst> AtomStream::next_burst() {
    const std::optional<Cycles> ready = room_for(0);
    if (!ready) {
        return std::nullopt;
    }
    const std::uint64_t remaining = beats_of(runs_[asked_run_]) - asked_in_run_;
    ReadBurst burst{*ready, 1};
    if (asked_in_run_ == 0) {
        burst.run = runs_[asked_run_];
        queued_.push_back(*ready);
    }
    while (burst.beats < remaining) {
        const std::optional<Cycles> next = room_for(burst.beats);
        if (!next || *next > burst.ready) {
            break;
        }
        ++burst.beats;
    }
    places_.ask(runs_[asked_run_], asked_in_run_, burst.beats, asked_);
    asked_ += burst.beats;
    asked_in_run_ += burst.beats;
    if (burst.beats == remaining) {
        ++asked_run_;
        asked_in_run_ = 0;
    }
    return burst;
}

void AtomStream::taken(Cycles time) {
    const std::uint64_t bytes_taken = (atom_ + 1) * setup_.atom.value;
    const bool run_ends = bytes_taken == runs_[run_].bytes.value;
    const std::uint64_t whole = first_place_ + bytes_taken / setup_.beat.value;
    if (atom_ == 0) {
        started_.push_back(time);
    }
    ++atom_;
    if (run_ends) {
        ended_.push_back(time);
        first_beat_ += beats_of(runs_[run_]);
        first_place_ += places_.of(runs_[run_]);
        ++run_;
        atom_ = 0;
    }
    taken_.resize(run_ends ? first_place_ : whole, time);
}

}  // namespace npuscope
