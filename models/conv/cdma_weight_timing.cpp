// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cdma_weight_timing.h"

#include <algorithm>
#include <utility>

namespace npuscope {

WeightStream::WeightStream(const CdmaConfig& config, WeightFetch fetch)
    : config_(config), fetch_(std::move(fetch)), waited_(fetch_.group_ends.size()) {}

std::uint64_t WeightStream::piece_end(std::uint64_t beat) const {
    const std::uint64_t piece = config_.request_atoms;
    return std::min(beats(), (beat / piece + 1) * piece);
}

std::optional<ReadBurst> WeightStream::next_burst() {
    // what may lie in the buffer or be on its way there
    const std::uint64_t slack = config_.request_atoms;
    const std::uint64_t first_end = piece_end(requested_);
    const std::uint64_t beyond_slack = first_end - std::min(first_end, slack);
    const auto room = fetch_.room.known_for(divide_up(beyond_slack, fetch_.beats_per_entry));
    if (!room) {
        return std::nullopt;
    }
    const std::uint64_t allowed =
        (fetch_.room.capacity + room->total - fetch_.room.promised) * fetch_.beats_per_entry +
        slack;
    const std::uint64_t whole_pieces =
        allowed >= beats() ? beats() : allowed / config_.request_atoms * config_.request_atoms;
    const std::uint64_t group_end = fetch_.group_ends[group_];
    const std::uint64_t end = std::min(std::max(whole_pieces, first_end), group_end);
    const std::uint64_t group_begin = group_ == 0 ? 0 : fetch_.group_ends[group_ - 1];
    ReadBurst burst{std::max(fetch_.start + config_.weight_request, room->time), end - requested_};
    if (requested_ == group_begin) {
        burst.run = ByteRun{fetch_.address + fetch_.beat * group_begin,
                            fetch_.beat * (group_end - group_begin)};
    }
    if (room->time > Cycles(0)) {
        limited_.push_back(requested_);
    }
    requested_ = end;
    group_ += end == group_end ? 1 : 0;
    return burst;
}

void WeightStream::note_gap(Cycles arrival) {
    while (limits_passed_ < limited_.size() && limited_[limits_passed_] <= arrived_) {
        const bool idle = arrival > last_arrival_ + Cycles(config_.request_atoms);
        if (limited_[limits_passed_] == arrived_ && idle) {
            waited_[written_.size()] = true;
        }
        ++limits_passed_;
    }
}

void WeightStream::arrived(std::span<const Cycles> times) {
    note_gap(times.front());
    const std::uint64_t end = arrived_ + times.size();
    while (written_.size() < fetch_.group_ends.size() &&
           fetch_.group_ends[written_.size()] <= end) {
        const Cycles last = times[fetch_.group_ends[written_.size()] - arrived_ - 1];
        const Cycles known =
            written_.empty() ? Cycles(0) : written_.back() + config_.group_interval;
        written_.push_back(std::max(last + config_.weight_write, known));
    }
    arrived_ = end;
    last_arrival_ = times.back();
}

}  // namespace npuscope
