// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_stream_timing.h"

#include <algorithm>
#include <utility>

namespace npuscope {

SdpStream::SdpStream(const SdpConfig& config, SdpStreamPlan plan, const std::vector<Cycles>& taken)
    : config_(config), plan_(std::move(plan)), taken_(taken) {
    for (const ByteRun& run : plan_.runs) {
        beats_ += beats_of(run);
    }
    arrivals_.reserve(beats_);
}

std::uint64_t SdpStream::beats_of(const ByteRun& run) const {
    return divide_up(run.end().value, plan_.beat.value) - run.address.value / plan_.beat.value;
}

std::optional<Cycles> SdpStream::ready(std::uint64_t beat) const {
    if (beat < plan_.fifo) {
        return plan_.start;
    }
    if (beat - plan_.fifo >= arrivals_.size()) {
        return std::nullopt;
    }
    const Cycles passed = arrivals_[beat - plan_.fifo] + config_.request_unpacked;
    const std::uint64_t ahead = plan_.fifo + plan_.unpacked;
    if (beat < ahead) {
        return passed;
    }
    const std::uint64_t first = (beat - ahead) / config_.beat_group * config_.beat_group;
    const std::uint64_t atom = first / plan_.beats_per_step * plan_.atoms_per_step;
    if (atom >= taken_.size()) {
        return std::nullopt;
    }
    return std::max(passed, taken_[atom] + config_.request_taken);
}

Cycles SdpStream::ready_after(std::uint64_t count) const {
    return ready(count - 1).value_or(Cycles(0));
}

std::optional<ReadBurst> SdpStream::next_burst() {
    const std::optional<Cycles> time = ready(requested_);
    if (!time) {
        return std::nullopt;
    }
    ReadBurst burst{*time, 1};
    if (left_in_run_ == 0) {
        burst.run = plan_.runs[run_++];
        left_in_run_ = beats_of(*burst.run);
    }
    if (requested_ < plan_.fifo) {
        burst.beats = std::min(plan_.fifo - requested_, left_in_run_);
    }
    requested_ += burst.beats;
    left_in_run_ -= burst.beats;
    return burst;
}

std::uint64_t SdpStream::needed(std::uint64_t atom) const {
    const std::uint64_t step = atom / plan_.atoms_per_step + 1;
    const std::uint64_t count = step * plan_.beats_per_step;
    const std::uint64_t line = plan_.steps_per_line * plan_.beats_per_step;
    const std::uint64_t lines_before = (count - 1) / line;
    const std::uint64_t in_line = count - lines_before * line;
    const std::uint64_t whole_groups = round_up(in_line, config_.beat_group);
    return std::min(lines_before * line + std::min(whole_groups, line), beats_);
}

}  // namespace npuscope
