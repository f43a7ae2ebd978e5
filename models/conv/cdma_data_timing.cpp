// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cdma_data_timing.h"

#include <algorithm>

namespace npuscope {

Cycles SkidStage::accepts(Cycles offered) const {
    Cycles time = offered;
    while (true) {
        const Cycles before = time - Cycles(1);
        if (before >= last_.stood && before < last_.left) {
            time = last_.left + Cycles(1);
        } else if (before >= before_.stood && before < before_.left) {
            time = before_.left + Cycles(1);
        } else {
            return time;
        }
    }
}

Cycles DataResponse::take(Cycles arrival, bool pauses) {
    const Cycles entered = std::max(arrival + pipe_, pipe_stood_);
    pipe_stood_ = std::max(entered, pipe_left_) + Cycles(1);
    pipe_left_ = multiplexer_.accepts(pipe_stood_);
    const Cycles at_first = multiplexer_.output(pipe_left_);
    const Cycles in_first = first_.accepts(at_first);
    multiplexer_.passed(at_first, in_first);
    const Cycles at_second = first_.output(in_first);
    const Cycles in_second = second_.accepts(at_second);
    first_.passed(at_second, in_second);
    const Cycles at_end = second_.output(in_second);
    const Cycles taken = at_end == pause_ ? at_end + Cycles(1) : at_end;
    second_.passed(at_end, taken);
    if (pauses && pause_ != taken + Cycles(1)) {
        pause_ = taken + Cycles(2);
    }
    return taken + write_;
}

FeatureStream::FeatureStream(const CdmaConfig& config, const FeatureFetch& fetch)
    : config_(config), fetch_(fetch), time_(fetch.start + config.data_request), pipeline_(config) {
    if (fetch_.surfaces_in_line) {
        fetch_.cube.shape.width = fetch_.cube.surfaces();
        fetch_.cube.shape.channels = fetch_.cube.channels_per_atom();
    }
    response_.atoms_left = atoms_of(response_);
    beats_ = count_beats();
}

std::uint64_t FeatureStream::beats_of(std::uint64_t address, std::uint64_t atoms) const {
    const Bytes atom = fetch_.cube.atom;
    if (fetch_.beat <= atom) {
        return atoms * (atom / fetch_.beat);
    }
    const std::uint64_t in_beat = fetch_.beat / atom;
    return (address + atoms - 1) / in_beat - address / in_beat + 1;
}

std::uint64_t FeatureStream::count_beats() const {
    std::uint64_t beats = 0;
    for (Position position; position.line < fetch_.cube.shape.height; step(position)) {
        beats += beats_of(first_atom(position), atoms_of(position));
    }
    return beats;
}

std::uint32_t FeatureStream::lines_of(const Position& position) const {
    const std::uint32_t batch = fetch_.cube.lines_of_batch();
    return std::min(fetch_.lines_per_request, batch - position.line % batch);
}

std::uint64_t FeatureStream::atoms_of(const Position& position) const {
    return std::uint64_t{lines_of(position)} * fetch_.cube.shape.width;
}

void FeatureStream::step(Position& position) const {
    if (++position.surface == fetch_.cube.surfaces()) {
        position.surface = 0;
        position.line += lines_of(position);
    }
}

bool FeatureStream::begin_run() {
    request_.atoms_left = atoms_of(request_);
    address_ = first_atom(request_);
    if (request_.surface > 0) {
        return true;
    }
    const std::uint64_t lines = std::uint64_t{request_.line} + lines_of(request_);
    const auto room = fetch_.room.known_for(lines * fetch_.entries_per_line);
    if (!room) {
        request_.atoms_left = 0;
        return false;
    }
    time_ = std::max(time_, room->time);
    return true;
}

std::optional<ReadBurst> FeatureStream::next_burst() {
    ReadBurst burst;
    const bool begins = request_.atoms_left == 0;
    if (begins && !begin_run()) {
        return std::nullopt;
    }
    const Bytes atom = fetch_.cube.atom;
    if (begins) {
        burst.run = ByteRun{Address(address_ * atom.value), atom * request_.atoms_left};
    }
    const std::uint64_t to_boundary = config_.request_atoms - address_ % config_.request_atoms;
    const std::uint64_t atoms = std::min(request_.atoms_left, to_boundary);
    burst.ready = time_;
    burst.beats = beats_of(address_, atoms);
    if (fetch_.beat > atom) {
        const std::uint64_t in_beat = fetch_.beat / atom;
        for (std::uint64_t left = atoms, at = address_; left > 0;) {
            const std::uint64_t count = std::min(left, in_beat - at % in_beat);
            wide_.push_back(static_cast<std::uint32_t>(count));
            left -= count;
            at += count;
        }
    }
    time_ += Cycles(1);
    address_ += atoms;
    request_.atoms_left -= atoms;
    if (request_.atoms_left == 0) {
        step(request_);
        time_ += config_.surface_gap;
        time_ += request_.surface == 0 ? config_.grain_gap : Cycles(0);
    }
    return burst;
}

bool FeatureStream::pass_atom() {
    const bool line_ends = column_ + 1 == fetch_.cube.shape.width;
    column_ = line_ends ? 0 : column_ + 1;
    if (--response_.atoms_left == 0) {
        step(response_);
        response_.atoms_left = response_.line < fetch_.cube.shape.height ? atoms_of(response_) : 0;
    }
    return line_ends;
}

void FeatureStream::arrived(std::span<const Cycles> times) {
    const bool wide = fetch_.beat > fetch_.cube.atom;
    const std::uint64_t beats_per_atom = wide ? 1 : fetch_.cube.atom / fetch_.beat;
    for (const Cycles time : times) {
        const bool slow_surface = (response_.surface & 2U) != 0;
        std::uint32_t atoms = ++beat_of_atom_ == beats_per_atom ? 1 : 0;
        if (wide) {
            atoms = wide_.front();
            wide_.pop_front();
        }
        bool line_ends = false;
        for (; atoms > 0; --atoms) {
            beat_of_atom_ = 0;
            line_ends = pass_atom() || line_ends;
        }
        written(pipeline_.take(time, line_ends || slow_surface));
    }
}

}  // namespace npuscope
