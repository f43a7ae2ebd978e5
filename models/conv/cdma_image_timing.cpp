// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cdma_image_timing.h"

#include <algorithm>

namespace npuscope {
namespace {

std::uint64_t beats_of(const ByteRun& run, Bytes beat) {
    return divide_up(run.end().value, beat.value) - run.address.value / beat.value;
}

}  // namespace

ImageStream::ImageStream(const CdmaConfig& config, const ImageFetch& fetch)
    : config_(config), fetch_(fetch), time_(fetch.start + config.image_request) {
    std::uint64_t last_plane = 0;
    for (std::uint32_t plane = 0; plane < fetch_.pixels.format->planes; ++plane) {
        last_plane = beats_of(fetch_.pixels.line({plane, 0}), fetch_.beat);
        line_beats_ += last_plane;
    }
    const std::uint64_t last_request = (last_plane - 1) % config_.request_atoms + 1;
    line_tail_ = config_.image_line_tail + Cycles(last_request > 2 ? 1 : 0);
    if (fetch_.pad_left > 0) {
        line_tail_ += config_.image_pad_tail;
    }
}

ByteRun ImageStream::run() const {
    const ByteRun bytes = fetch_.pixels.line(position_);
    const std::uint64_t beat = fetch_.beat.value;
    const std::uint64_t first = bytes.address.value / beat * beat;
    return {Address(first), Bytes(round_up(bytes.end().value, beat) - first)};
}

std::optional<ReadBurst> ImageStream::next_burst() {
    ReadBurst burst;
    if (beats_left_ == 0) {
        const auto room = fetch_.room.known_for((position_.y + 1ULL) * fetch_.entries_per_line);
        if (!room) {
            return std::nullopt;
        }
        time_ = std::max(time_, room->time);
        burst.run = run();
        beats_left_ = burst.run->bytes / fetch_.beat;
    }
    burst.ready = time_;
    burst.beats = std::min<std::uint64_t>(beats_left_, config_.request_atoms);
    time_ += Cycles(1);
    beats_left_ -= burst.beats;
    if (beats_left_ == 0 && ++position_.plane == fetch_.pixels.format->planes) {
        position_ = {0, position_.y + 1};
    }
    return burst;
}

void ImageStream::finish_line(Cycles last_beat) {
    packed_ = packed_ == Cycles(0) ? last_beat : packed_;
    const Cycles packing = Cycles(fetch_.packed_line_entries) + config_.image_line_gap;
    packed_ = std::max(packed_ + packing, last_beat + line_tail_);
    written(packed_);
}

void ImageStream::arrived(std::span<const Cycles> times) {
    for (const Cycles time : times) {
        if (arrived_ == config_.request_atoms) {
            packed_ = time + config_.image_start;
        }
        if (++arrived_ % line_beats_ == 0) {
            finish_line(time);
        }
    }
}

}  // namespace npuscope
