// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cdma_timing.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace npuscope {
namespace {

/// Data requests in flight; cycles from the last write of one to the next request in its slot.
/// source: NV_NVDLA_CDMA_DC_fifo.v, 128 and the one at its end; nv_small RTL, latency 800, measured
constexpr std::size_t queued_requests = 129;
constexpr Cycles from_write_to_request{2};

/// Stages before the arbiter that a data request passes, one of them shared with pixel requests.
/// source: NV_NVDLA_DMAIF_rdreq.v, NV_NVDLA_CDMA_dma_mux.v, NV_NVDLA_MCIF_READ_IG_bpt.v
constexpr std::uint32_t request_stages = 4;

}  // namespace

Cycles ResponsePipe::offer(Cycles arrival) {
    Cycles& read = read_[place_];
    read = std::max(
        {arrival + pipe_, left_, read_[(place_ + read_.size() - 1) % read_.size()] + Cycles(1)});
    place_ = (place_ + 1) % read_.size();
    const Cycles entered = std::max(arrival + pipe_, stood_);
    stood_ = std::max(entered, left_) + Cycles(1);
    left_ = multiplexer_.accepts(stood_);
    const Cycles at_first = multiplexer_.output(left_);
    const Cycles in_first = first_.accepts(at_first);
    multiplexer_.passed(left_, at_first, in_first);
    const Cycles at_second = first_.output(in_first);
    in_second_ = second_.accepts(at_second);
    first_.passed(in_first, at_second, in_second_);
    at_end_ = second_.output(in_second_);
    return at_end_;
}

Cycles ResponsePipe::room() const {
    // it is written in the cycle before it can be read, after the one that made room
    const Cycles freed = read_[place_] + Cycles(2);
    return freed - std::min(freed, pipe_);
}

Cycles DataResponse::take(Cycles arrival, bool pauses) {
    const Cycles at_end = pipe_.offer(arrival);
    const Cycles taken = at_end == pause_ ? at_end + Cycles(1) : at_end;
    pipe_.taken(taken);
    if (pauses && pause_ != taken + Cycles(1)) {
        pause_ = taken + Cycles(2);
    }
    return taken + write_;
}

Cycles DataResponse::take(Cycles arrival, const Reads& reads) {
    const Cycles at_end = pipe_.offer(arrival);
    const Cycles taken = blocked(at_end) ? at_end + Cycles(1) : at_end;
    pipe_.taken(taken);
    if (reads.count == 0) {
        return taken + write_;
    }
    const Cycles start = std::max(taken + Cycles(1), free_);
    free_ = start + Cycles(reads.count);
    if (reads.ones > 0) {
        const Cycles first = free_ - Cycles(reads.ones);
        begun_ = first == ended_ ? begun_ : first;
        ended_ = free_;
    }
    return free_ - Cycles(2) + write_;
}

FeatureStream::FeatureStream(const CdmaConfig& config, const FeatureFetch& fetch)
    : config_(config), fetch_(fetch), time_(fetch.start + config.data_request), pipeline_(config) {
    if (fetch_.surfaces_in_line) {
        fetch_.cube.shape.width = fetch_.cube.surfaces();
        fetch_.cube.shape.channels = fetch_.cube.channels_per_atom();
    }
    beats_per_atom_ = fetch_.cube.atom / fetch_.beat;
    response_.atoms_left = atoms_of(response_);
    beats_ = count_beats();
    queued_ = queue_may_fill();
}

std::uint64_t FeatureStream::beats_of(std::uint64_t address, std::uint64_t atoms) const {
    const Bytes atom = fetch_.cube.atom;
    if (fetch_.beat <= atom) {
        return atoms * beats_per_atom_;
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

std::uint64_t FeatureStream::lines_until(const Position& position) const {
    const std::uint32_t batch = fetch_.cube.lines_of_batch();
    const std::uint64_t batches = fetch_.cube.shape.height / batch;
    return position.line % batch * batches +
           (position.line / batch + 1) * std::uint64_t{lines_of(position)};
}

void FeatureStream::step(Position& position) const {
    if (++position.surface < fetch_.cube.surfaces()) {
        return;
    }
    position.surface = 0;
    const std::uint32_t lines = lines_of(position);
    const std::uint32_t batch = fetch_.cube.lines_of_batch();
    position.line += batch;
    if (position.line >= fetch_.cube.shape.height) {  // the same lines of every batch come first
        const std::uint32_t next = position.line % batch + lines;
        position.line = next < batch ? next : fetch_.cube.shape.height;
    }
}

bool FeatureStream::begin_run() {
    request_.atoms_left = atoms_of(request_);
    address_ = first_atom(request_);
    if (request_.surface > 0) {
        return true;
    }
    const auto room = fetch_.room.known_for(lines_until(request_) * fetch_.entries_per_line);
    if (!room) {
        request_.atoms_left = 0;
        return false;
    }
    time_ = with_room(time_, room->time);
    return true;
}

bool FeatureStream::begin_pair() {
    if (!begin_run()) {
        return false;
    }
    const std::uint32_t count = surfaces_together(request_);
    pair_ = {};
    for (std::uint32_t i = 0; i < count; ++i) {
        Position of = request_;
        of.surface += i;
        pair_[i] = {first_atom(of), atoms_of(of)};
    }
    turn_ = 0;
    return true;
}

std::optional<ReadBurst> FeatureStream::next_of_pair() {
    if (pair_[0].left + pair_[1].left == 0 && !begin_pair()) {
        return std::nullopt;
    }
    const std::uint32_t count = surfaces_together(request_);
    for (; pair_[turn_].left == 0; turn_ = (turn_ + 1) % count) {
        time_ += Cycles(1);  // its turn passes
    }
    Piece& piece = pair_[turn_];
    const std::uint64_t to_boundary = config_.request_atoms - piece.address % config_.request_atoms;
    const std::uint64_t atoms = std::min(piece.left, to_boundary);
    const Bytes atom = fetch_.cube.atom;
    ReadBurst burst{time_, beats_of(piece.address, atoms)};
    burst.run = ByteRun{Address(piece.address * atom.value), atom * atoms};
    add_wide_beats(piece.address, atoms, turn_);
    time_ += Cycles(1);
    piece.address += atoms;
    piece.left -= atoms;
    turn_ = (turn_ + 1) % count;
    if (pair_[0].left + pair_[1].left == 0) {
        request_.surface += count - 1;
        step(request_);
        time_ += config_.surface_gap;
        time_ += request_.surface == 0 ? config_.grain_gap : Cycles(0);
    }
    return burst;
}

std::optional<ReadBurst> FeatureStream::next_burst() {
    if (paired()) {
        return next_of_pair();
    }
    ReadBurst burst;
    const bool queue_full = queued_ && in_queue_.size() + left_queue_.size() == queued_requests;
    const bool begins = request_.atoms_left == 0;
    if ((queue_full && left_queue_.empty()) || (begins && !begin_run())) {
        return std::nullopt;
    }
    const Bytes atom = fetch_.cube.atom;
    if (begins) {
        burst.run = ByteRun{Address(address_ * atom.value), atom * request_.atoms_left};
    }
    const std::uint64_t to_boundary = config_.request_atoms - address_ % config_.request_atoms;
    const std::uint64_t atoms = std::min(request_.atoms_left, to_boundary);
    if (queued_) {
        if (queue_full) {
            time_ = std::max(time_, left_queue_.front() + from_write_to_request);
            left_queue_.pop_front();
        }
        in_queue_.push_back(atoms);
    }
    burst.ready = time_;
    burst.request = true;
    burst.stages = request_stages;
    burst.gap = gap_;
    burst.beats = beats_of(address_, atoms);
    if (fetch_.beat > atom) {
        add_wide_beats(address_, atoms, 0);
    }
    gap_ = Cycles(1);
    address_ += atoms;
    request_.atoms_left -= atoms;
    if (request_.atoms_left == 0) {
        step(request_);
        gap_ += config_.surface_gap;
        gap_ += request_.surface == 0 ? config_.grain_gap : Cycles(0);
    }
    time_ += gap_;
    return burst;
}

void FeatureStream::add_wide_beats(std::uint64_t address, std::uint64_t atoms,
                                   std::uint32_t surface) {
    const std::uint64_t in_beat = fetch_.beat / fetch_.cube.atom;
    std::uint64_t passed = 0;
    for (std::uint64_t come = 0, at = address; come < atoms;) {
        const std::uint64_t count = std::min(atoms - come, in_beat - at % in_beat);
        come += count;
        at += count;
        WideBeat beat{.surface = surface};
        if (!config_.surface_pairs) {
            beat.atoms = static_cast<std::uint32_t>(count);
        } else {  // source: NV_NVDLA_MCIF_READ_eg.v of nvdlav1, arb_cq_swizzle and last_odd
            const std::uint64_t whole = come == atoms ? come : come / in_beat * in_beat;
            beat.atoms = static_cast<std::uint32_t>(std::min(whole - passed, in_beat));
            beat.more = static_cast<std::uint32_t>(whole - passed) - beat.atoms;
            passed = whole;
        }
        wide_.push_back(beat);
    }
}

DataResponse::Reads FeatureStream::pass_pairs(const WideBeat& beat, std::uint32_t atoms) {
    DataResponse::Reads reads;
    if (surfaces_together(response_) == 1) {
        const bool columns = response_.surface % 4 == 0;  // two of a line are read at once
        for (; atoms > 0; --atoms) {
            const bool second = column_ % 2 != 0;
            const bool ends = pass_atom();
            reads.count += !columns || ends || second ? 1 : 0;
            reads.ones += !columns || (ends && !second) ? 1 : 0;
        }
        return reads;
    }
    waiting_[beat.surface] += atoms;  // for the other surface's atoms
    reads.count = std::min(waiting_[0], waiting_[1]);
    reads.ones = reads.count;
    waiting_[0] -= reads.count;
    waiting_[1] -= reads.count;
    response_.atoms_left -= reads.count;
    if (response_.atoms_left == 0) {
        ++response_.surface;
        step(response_);
        response_.atoms_left = response_.line < fetch_.cube.shape.height ? atoms_of(response_) : 0;
    }
    return reads;
}

inline bool FeatureStream::pass_atom() {
    const bool line_ends = column_ + 1 == fetch_.cube.shape.width;
    column_ = line_ends ? 0 : column_ + 1;
    if (--response_.atoms_left == 0) {
        step(response_);
        response_.atoms_left = response_.line < fetch_.cube.shape.height ? atoms_of(response_) : 0;
    }
    return line_ends;
}

void FeatureStream::leave_queue(Cycles written) {
    if (--in_queue_.front() == 0) {
        in_queue_.pop_front();
        left_queue_.push_back(written);
    }
}

inline void FeatureStream::pass(Cycles time, std::uint32_t atoms) {
    const bool slow_surface = (response_.surface & 2U) != 0;
    const bool leaves = queued_ && atoms > 0;
    bool line_ends = false;
    for (; atoms > 0; --atoms) {
        line_ends = pass_atom() || line_ends;
    }
    const Cycles write = pipeline_.take(time, line_ends || slow_surface);
    written(write);
    if (leaves) {
        leave_queue(write);
    }
}

void FeatureStream::pass_beat(Cycles time) {
    const bool whole = ++beat_of_atom_ == beats_per_atom_;
    beat_of_atom_ = whole ? 0 : beat_of_atom_;
    pass(time, whole ? 1 : 0);
}

void FeatureStream::hold_back(std::span<Cycles> times, Cycles interval) {
    if (fetch_.beat > fetch_.cube.atom) {
        return;
    }
    Cycles next;
    for (Cycles& time : times) {
        time = std::max({time, next, pipeline_.room()});
        next = time + interval;
        pass_beat(time);
    }
    passed_early_ += times.size();
}

void FeatureStream::arrived(std::span<const Cycles> times) {
    if (passed_early_ > 0) {
        passed_early_ -= times.size();
        return;
    }
    const bool wide = fetch_.beat > fetch_.cube.atom;
    for (const Cycles time : times) {
        if (!wide) {
            pass_beat(time);
            continue;
        }
        const WideBeat beat = wide_.front();
        wide_.pop_front();
        for (const std::uint32_t atoms : {beat.atoms, beat.more}) {
            if (atoms > 0 && paired()) {
                written(pipeline_.take(time, pass_pairs(beat, atoms)));
            } else if (atoms > 0) {
                pass(time, atoms);
            }
        }
    }
}

void GroupStream::arrived(std::span<const Cycles> times) {
    const std::uint64_t end = arrived_ + times.size();
    while (written_.size() < ends_.size() && ends_[written_.size()] <= end) {
        const std::uint64_t last = ends_[written_.size()];
        // a group that adds no beat arrived with the previous one
        const Cycles arrival = last > arrived_ ? times[last - arrived_ - 1] : last_arrival_;
        const Cycles known =
            written_.empty() ? Cycles(0) : written_.back() + config_.group_interval;
        written_.push_back(std::max(arrival + config_.weight_write, known));
    }
    arrived_ = end;
    last_arrival_ = times.back();
}

WeightStream::WeightStream(const CdmaConfig& config, WeightFetch fetch)
    : GroupStream(config, fetch.group_ends, fetch.group_ends.size()), fetch_(std::move(fetch)) {}

std::uint64_t WeightStream::piece_end(std::uint64_t beat) const {
    const std::uint64_t piece = config_.request_atoms;
    return std::min(beats(), (beat / piece + 1) * piece);
}

std::uint64_t WeightStream::next_run_end() {
    run_begin_ = requested_;
    while (piece_end(ends_[group_] - 1) <= requested_) {
        ++group_;
    }
    return piece_end(ends_[group_] - 1);
}

std::optional<ReadBurst> WeightStream::next_burst() {
    // what may be in the buffer or on its way there
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
    if (requested_ == run_end_) {
        run_end_ = next_run_end();
    }
    const std::uint64_t end = std::min(std::max(whole_pieces, first_end), run_end_);
    ReadBurst burst{std::max(fetch_.start + config_.weight_request, room->time), end - requested_};
    if (requested_ == run_begin_) {
        const Address first(fetch_.address.value / fetch_.beat.value * fetch_.beat.value);
        const Address from = std::max(fetch_.address, first + fetch_.beat * requested_);
        burst.run = ByteRun{from, first + fetch_.beat * run_end_ - from};
    }
    if (room->time > Cycles(0)) {
        limited_.push_back({requested_, room->time});
    }
    requested_ = end;
    return burst;
}

GroupStream::Removable WeightStream::removable() const {
    // zeros may follow the last group, and the first one begins in the middle of a beat
    const std::size_t full = ends_.size() - 1;
    if (full < 3) {
        return {};
    }
    const std::uint64_t beats = ends_[full - 1] - ends_[full - 2];
    for (std::size_t i = 1; i < full; ++i) {
        if (ends_[i] - ends_[i - 1] != beats) {
            return {};
        }
    }
    const std::uint64_t left =
        ends_[full - 1] - std::min(ends_[full - 1], std::max(requested_, run_end_));
    const std::uint64_t piece = config_.request_atoms;
    return {left / beats, piece / std::gcd(piece, beats)};
}

void WeightStream::add_state(Fingerprint& state, std::size_t begun) const {
    const std::uint64_t begin = begun == 0 ? 0 : ends_[begun - 1];
    state.add(requested_ - begin);
    state.add((fetch_.room.promised - fetch_.room.releases->total()) * fetch_.beats_per_entry +
              requested_);
    state.add(run_end_ - begin);
    state.add(arrived_ - begin);
    if (!written_.empty()) {
        state.add(written_.back());
    }
    if (arrived_ > 0) {
        state.add(last_arrival_);
        state.add(way_.value);
    } else {
        state.add(fetch_.start);
    }
    for (std::size_t i = limits_passed_; i < limited_.size(); ++i) {
        if (limited_[i].room + way_ > last_arrival_) {
            state.add(limited_[i].beat - begin);
            state.add(limited_[i].room);
        }
    }
    for (std::size_t group = begun; group <= written_.size() && group < waited_.size(); ++group) {
        state.add(waited_[group] ? 1U : 0U);
    }
}

std::uint64_t WeightStream::leave_out(std::size_t groups, std::uint64_t entries) {
    fetch_.room.promised += entries;
    const std::uint64_t last = ends_.back();
    const std::uint64_t beats = (ends_[1] - ends_[0]) * groups;
    ends_.resize(ends_.size() - groups);
    ends_.back() = last - beats;
    return beats;
}

void WeightStream::note_gaps(std::span<const Cycles> times) {
    if (arrived_ == 0) {
        const bool waited = !limited_.empty() && limited_.front().beat == 0;
        const Cycles room = waited ? limited_.front().room : Cycles(0);
        way_ = times.front() - std::max(fetch_.start + config_.weight_request, room);
    }
    std::size_t group = written_.size();
    while (limits_passed_ < limited_.size() &&
           limited_[limits_passed_].beat < arrived_ + times.size()) {
        const auto [beat, room] = limited_[limits_passed_++];
        const std::uint64_t place = beat - arrived_;
        while (ends_[group] <= beat) {
            ++group;
        }
        if (beat == 0) {
            waited_[group] = room > fetch_.start + config_.weight_request;
            continue;
        }
        const Cycles before = place == 0 ? last_arrival_ : times[place - 1];
        // with room it would have been made right after the previous one
        const bool late = room + way_ > before;
        if (late && times[place] > before + Cycles(config_.request_atoms)) {
            waited_[group] = true;
        }
    }
}

void WeightStream::arrived(std::span<const Cycles> times) {
    note_gaps(times);
    GroupStream::arrived(times);
}

}  // namespace npuscope
