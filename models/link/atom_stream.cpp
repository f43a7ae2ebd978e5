// SPDX-License-Identifier: Apache-2.0
#include "models/link/atom_stream.h"

#include <algorithm>

#include "models/base/check.h"

namespace npuscope {

AtomStream::AtomStream(const AtomStreamSetup& setup, std::vector<ByteRun> runs)
    : setup_(setup), runs_(std::move(runs)) {
    NPU_CHECK(setup_.ahead * setup_.beat.value >= 2 * setup_.atom.value,
              "a latency FIFO holds two atoms at least");
    for (const ByteRun& run : runs_) {
        total_beats_ += beats_of(run);
    }
    arrivals_.reserve(total_beats_);
    taken_.reserve(total_beats_);
}

std::uint64_t AtomStream::beats_of(const ByteRun& run) const {
    const std::uint64_t begin = run.address.value / setup_.beat.value;
    return divide_up(run.address.value + run.bytes.value, setup_.beat.value) - begin;
}

std::uint64_t AtomStream::atoms_ahead() const {
    // the first and the last beat may be shared with others
    const std::uint64_t bytes = (setup_.ahead - 1) * setup_.beat.value;
    return std::max<std::uint64_t>(bytes / setup_.atom.value, 1);
}

std::optional<Cycles> AtomStream::room_for(std::uint64_t beat) const {
    if (beat < setup_.ahead) {
        return setup_.first;
    }
    const std::uint64_t gives_way = beat - setup_.ahead;
    return gives_way < taken_.size() ? std::optional(taken_[gives_way]) : std::nullopt;
}

std::optional<ReadBurst> AtomStream::next_burst() {
    const std::optional<Cycles> ready = room_for(asked_);
    if (!ready) {
        return std::nullopt;
    }
    const std::uint64_t remaining = beats_of(runs_[asked_run_]) - asked_in_run_;
    ReadBurst burst{std::max(*ready, setup_.first), 1};
    if (asked_in_run_ == 0) {
        burst.run = runs_[asked_run_];
    }
    while (burst.beats < remaining) {
        const std::optional<Cycles> next = room_for(asked_ + burst.beats);
        if (!next || *next > burst.ready) {
            break;
        }
        ++burst.beats;
    }
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
    const std::uint64_t skip = runs_[run_].address.value % setup_.beat.value;
    const std::uint64_t whole = first_beat_ + (skip + bytes_taken) / setup_.beat.value;
    ++atom_;
    if (run_ends) {
        first_beat_ += beats_of(runs_[run_]);
        ++run_;
        atom_ = 0;
    }
    taken_.resize(run_ends ? first_beat_ : whole, time);
}

}  // namespace npuscope
