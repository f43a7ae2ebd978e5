// SPDX-License-Identifier: Apache-2.0
#include "models/link/register_file_pace.h"

#include <algorithm>

namespace npuscope {
namespace {

/// Beats that the FIFO holds, for each of its halves.
constexpr std::uint64_t kFifo = 6;  // source: nv_full RTL, simulated; NV_NVDLA_RUBIK_wrdma_data.v
/// From a packet leaving to its replacement, and from a beat of the pipe to the third beat after
/// it, both as if it had not waited.
constexpr Cycles kRoom{3};  // source: nv_full RTL, simulated

}  // namespace

Cycles RegisterFilePace::room() {
    const std::uint64_t bank = banks_filled_ % ended_.size();
    while (reading_ + 1 < fills_.size()) {  // all but the fill of the other bank
        read_next();
    }
    const Cycles ended = ended_[bank];
    return ended - std::min(ended, latency_ - Cycles(1));
}

void RegisterFilePace::fill(const RegisterFill& fill, Cycles last) {
    fills_.push_back({fill, last + latency_, bytes_, beats_});
    ++banks_filled_;
    bytes_ += fill.row.value * fill.rows;
    beats_ += beats_of(fills_.back());
}

Cycles RegisterFilePace::room_behind(std::uint64_t end) {
    const std::uint64_t fifo = kFifo * beat_.value;
    if (end <= fifo) {
        return {};
    }
    while (!left_.empty() && left_.front().end < end - fifo) {
        left_.pop_front();
    }
    return left_.empty() ? Cycles(0) : left_.front().as_read + kRoom;
}

void RegisterFilePace::read_next() {
    const Filled& filled = fills_[reading_];
    const std::uint64_t beat = pushed_before_ + pushed_.size();
    const std::uint64_t in_fill = beat - filled.first;
    const std::uint64_t in_row = in_fill % beats_of_row(filled.fill);
    const std::uint64_t row = filled.fill.row.value;
    const std::uint64_t end = filled.begin + in_fill / beats_of_row(filled.fill) * row +
                              std::min((in_row + 1) * beat_.value, row);
    const std::size_t slot = beat % in_pipe_.size();
    const Cycles piped = beat < in_pipe_.size() ? Cycles(0) : in_pipe_[slot] + kRoom;
    const Cycles before = in_pipe_[(slot + in_pipe_.size() - 1) % in_pipe_.size()];
    const Cycles read = std::max({read_free_, filled.full, piped});
    const Cycles pushed = std::max({read, before + Cycles(beat == 0 ? 0 : 1), room_behind(end)});
    read_free_ = read + Cycles(1);
    in_pipe_[slot] = pushed;
    pushed_.push_back(pushed);
    if (in_fill + 1 == beats_of(filled)) {
        const std::uint64_t fills_after = fills_.size() - reading_;
        ended_[(banks_filled_ - fills_after) % ended_.size()] = read_free_;
        ++reading_;
    }
}

Cycles RegisterFilePace::read_until(std::uint64_t end) {
    const std::uint64_t byte = block_ + end;
    const auto after = std::ranges::lower_bound(fills_, byte, {}, &Filled::begin);
    const Filled& filled = *std::prev(after);
    const std::uint64_t row = filled.fill.row.value;
    const std::uint64_t bytes = byte - filled.begin;
    const std::uint64_t beat = filled.first + bytes / row * beats_of_row(filled.fill) +
                               divide_up(bytes % row, beat_.value) - 1;
    while (pushed_before_ + pushed_.size() <= beat) {
        read_next();
    }
    return pushed_[beat - pushed_before_];
}

void RegisterFilePace::begin_block() {
    block_ = bytes_;
    pushed_before_ += pushed_.size();
    pushed_.clear();
    fills_.erase(fills_.begin(), fills_.begin() + static_cast<std::ptrdiff_t>(reading_));
    reading_ = 0;
}

}  // namespace npuscope
