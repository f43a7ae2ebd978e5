// SPDX-License-Identifier: Apache-2.0
#include "models/conv/image_stream.h"

#include <algorithm>

namespace npuscope {
namespace {

/// The atoms of one plane's line: padding on the left, pixels, padding on the right. There is one
/// more than in the packed line, because pixels are shifted to their place in it.
struct PlaneLine {
    std::uint32_t left;
    std::uint32_t pixels;
    std::uint32_t right;

    std::uint32_t atoms() const { return left + pixels + right; }
};

/// source: NV_NVDLA_CDMA_IMG_ctrl.v, lp_burst, width_burst and rp_burst
PlaneLine plane_line(const ImageFetch& fetch, std::uint32_t plane) {
    const PixelSurface& pixels = fetch.pixels;
    const auto in_atom = static_cast<std::uint32_t>(
        std::max<std::uint64_t>(pixels.atom / pixels.format->pixel_bytes(plane), 1));
    const std::uint32_t offset = plane == 0 ? pixels.x_offset : pixels.x_offset % in_atom;
    PlaneLine line{};
    line.left = fetch.pad_left / in_atom + (offset >= fetch.pad_left % in_atom ? 0U : 1U);
    line.pixels = (pixels.width - 1 + offset) / in_atom + 1;
    const std::uint32_t stored = fetch.pad_left + pixels.width - 1 + fetch.pad_right;
    const std::uint32_t needed = stored / in_atom + 2;
    line.right = needed - std::min(needed, line.left + line.pixels);
    return line;
}

/// Cuts one plane's line into requests, bundle by bundle.
class PlaneCut {
 public:
    PlaneCut(const PlaneLine& line, std::uint32_t plane)
        : plane_(plane),
          room_((plane == 0 ? 8U : 16U) + 1U),
          left_(line.left),
          pixels_(line.pixels),
          right_(line.right) {}

    bool done() const { return left_ + pixels_ + right_ == 0; }
    /// Adds the requests of the next bundle; returns how many of their atoms are packed.
    std::uint32_t cut_bundle(std::vector<ImageRequest>& requests) {
        const std::uint32_t room = room_;
        std::uint32_t left = room;
        cut_padding(left_, left, requests);
        if (const std::uint32_t atoms = std::min(pixels_, left); atoms > 0) {
            requests.push_back({plane_, false, next_pixels_, atoms});
            next_pixels_ += atoms;
            pixels_ -= atoms;
            left -= atoms;
        }
        cut_padding(right_, left, requests);
        const std::uint32_t shifted = first_ ? 1 : 0;
        first_ = false;
        room_ = plane_ == 0 ? 8 : 16;
        return room - left - shifted;
    }

 private:
    void cut_padding(std::uint32_t& padding, std::uint32_t& left,
                     std::vector<ImageRequest>& requests) const {
        if (const std::uint32_t atoms = std::min(padding, left); atoms > 0) {
            requests.push_back({plane_, true, 0, atoms});
            padding -= atoms;
            left -= atoms;
        }
    }

    std::uint32_t plane_;
    std::uint32_t room_;  // source: NV_NVDLA_CDMA_IMG_ctrl.v, bundle_limit and bundle_limit_1st
    std::uint32_t left_;
    std::uint32_t pixels_;
    std::uint32_t right_;
    std::uint32_t next_pixels_ = 0;
    bool first_ = true;
};

/// Reads of the packing for a bundle: each brings what a beat holds of one plane.
/// source: NV_NVDLA_CDMA_IMG_pack.v, rd_loop_cnt_limit and rd_pburst_limit
std::uint32_t bundle_reads(std::uint32_t luma, std::uint32_t chroma, bool planar,
                           std::uint32_t atoms_in_beat) {
    const std::uint32_t loops =
        std::max<std::uint32_t>(static_cast<std::uint32_t>(divide_up(luma, atoms_in_beat)), 1);
    if (!planar) {
        return loops;
    }
    const bool odd = atoms_in_beat == 1 ? chroma % 2 != 0 : luma % 2 != 0;
    return 3 * loops - (odd ? 1 : 0);
}

/// With two planes, the last entry is written a cycle after the last read, unless that read is not
/// needed for it. source: NV_NVDLA_CDMA_IMG_ctrl.v, pixel_early_end
bool ends_late(const ImageFetch& fetch, std::uint32_t chroma_atoms, std::uint32_t atoms_in_beat) {
    const std::uint64_t bus = fetch.beat.value;
    const std::uint64_t rest = (fetch.pad_left + fetch.pixels.width + fetch.pad_right) % bus;
    const std::uint64_t tail = divide_up(rest * 3 * (fetch.pixels.format->code_bits / 8), bus);
    bool early = tail == 1 || tail == 4;
    if (atoms_in_beat == 1) {
        early = early || (tail == 2 && 2 * rest > bus);
    } else {
        early = early || ((tail == 2 || tail == 5) && (chroma_atoms & 2U) == 0);
    }
    return !early;
}

std::uint32_t atoms_in_beat(const ImageFetch& fetch) {
    return static_cast<std::uint32_t>(std::max<std::uint64_t>(fetch.beat / fetch.pixels.atom, 1));
}

}  // namespace

ImageLinePlan image_line(const ImageFetch& fetch) {
    const bool planar = fetch.pixels.format->planes == 2;
    const PlaneLine luma_line = plane_line(fetch, 0);
    const PlaneLine chroma_line = planar ? plane_line(fetch, 1) : PlaneLine{};
    PlaneCut luma(luma_line, 0);
    PlaneCut chroma(chroma_line, 1);
    ImageLinePlan plan;
    while (!luma.done() || !chroma.done()) {
        const std::uint32_t luma_atoms = luma.done() ? 0 : luma.cut_bundle(plan.requests);
        const std::uint32_t chroma_atoms = chroma.done() ? 0 : chroma.cut_bundle(plan.requests);
        plan.requests.back().reads =
            bundle_reads(luma_atoms, chroma_atoms, planar, atoms_in_beat(fetch));
    }
    plan.packed_late = planar && ends_late(fetch, chroma_line.atoms(), atoms_in_beat(fetch));
    return plan;
}

ImageStream::ImageStream(const CdmaConfig& config, const ImageFetch& fetch)
    : config_(config),
      fetch_(fetch),
      line_(image_line(fetch)),
      atoms_in_beat_(atoms_in_beat(fetch)),
      slot_(fetch.start + config.image_request),
      answer_ends_(config.image_requests),
      pipe_(config.data_pipe) {
    for (Place place; !over(place); step(place)) {
        beats_ += at(place).padding ? 0 : beats_of(run(place));
    }
}

void ImageStream::step(Place& place) const {
    ++place.count;
    if (++place.request == line_.requests.size()) {
        place.request = 0;
        ++place.y;
    }
}

ByteRun ImageStream::run(const Place& place) const {
    const ImageRequest& request = at(place);
    const Bytes atom = fetch_.pixels.atom;
    const Address line = fetch_.pixels.line({request.plane, place.y}).address;
    return {Address(line.value / atom.value * atom.value) + atom * request.first,
            atom * request.atoms};
}

std::uint64_t ImageStream::beats_of(const ByteRun& run) const {
    return divide_up(run.end().value, fetch_.beat.value) - run.address.value / fetch_.beat.value;
}

bool ImageStream::begin_request() {
    if (slot_known_) {
        return true;
    }
    Cycles room_from;
    if (asked_.request == 0) {
        const auto room = fetch_.room.known_for((asked_.y + 1ULL) * fetch_.entries_per_line);
        if (!room) {
            return false;
        }
        room_from = room->time;
    }
    if (asked_.count >= answer_ends_.size()) {
        if (asked_.count - answer_ends_.size() >= answered_.count) {
            return false;
        }
        slot_ = std::max(
            slot_, answer_ends_[asked_.count % answer_ends_.size()] + config_.image_request_return);
    }
    slot_ = with_room(slot_, room_from);
    slot_known_ = true;
    return true;
}

void ImageStream::finish_request() {
    step(asked_);
    slot_known_ = false;
    slot_ += Cycles(asked_.request == 0 ? 2 : 1);  // room is checked between lines
}

void ImageStream::ask_for_padding() {
    while (!over(asked_) && at(asked_).padding && begin_request()) {
        finish_request();
    }
}

std::optional<ReadBurst> ImageStream::next_burst() {
    ask_for_padding();
    if (!begin_request() || at(asked_).padding) {
        return std::nullopt;
    }
    ReadBurst burst;
    burst.run = run(asked_);
    burst.ready = slot_;
    burst.beats = beats_of(*burst.run);
    finish_request();
    ask_for_padding();
    return burst;
}

void ImageStream::finish_answer() {
    answer_ends_[answered_.count % answer_ends_.size()] = taken_;
    if (const std::uint32_t reads = at(answered_).reads; reads > 0) {
        packed_ = std::max(packed_, taken_) + Cycles(reads);
    }
    step(answered_);
    if (answered_.request == 0) {
        written(packed_ + config_.image_write + Cycles(line_.packed_late ? 1 : 0));
    }
}

void ImageStream::take_padding() {
    while (answered_.count < asked_.count && at(answered_).padding) {
        taken_ += Cycles(divide_up(at(answered_).atoms, atoms_in_beat_));
        finish_answer();
    }
}

void ImageStream::arrived(std::span<const Cycles> times) {
    for (const Cycles time : times) {
        take_padding();
        if (beats_left_ == 0) {
            beats_left_ = beats_of(run(answered_));
        }
        taken_ = std::max(pipe_.offer(time), taken_ + Cycles(1));
        pipe_.taken(taken_);
        if (--beats_left_ == 0) {
            finish_answer();
            ask_for_padding();
            take_padding();
        }
    }
}

}  // namespace npuscope
