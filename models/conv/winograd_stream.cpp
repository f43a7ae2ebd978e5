// SPDX-License-Identifier: Apache-2.0
#include "models/conv/winograd_stream.h"

#include <algorithm>

namespace npuscope {
namespace {

constexpr std::uint32_t lines_of_patch = 4;
constexpr std::uint32_t columns_of_patch = 4;
constexpr std::uint32_t columns_of_request = 8;  // source: NV_NVDLA_CDMA_wg.v, req_sub_w_cur
constexpr Cycles reads_of_patch{8};              // source: NV_NVDLA_CDMA_wg.v, rd_sub_cnt
constexpr std::size_t most_patches = 8;          // source: NV_NVDLA_CDMA_wg.v, sbuf_blocking_w

/// Winograd data is requested earlier than direct-mode data.
/// source: NV_NVDLA_CDMA_wg.v; nv_full RTL, simulated
constexpr Cycles request_lead{2};

/// From the last atoms of a patch to the first cycle in which it counts.
/// source: NV_NVDLA_CDMA_wg.v, sbuf_cube_inc_en_d1 and sbuf_avl_cube
constexpr Cycles patch_counted{2};

}  // namespace

WinogradStream::WinogradStream(const CdmaConfig& config, const WinogradFetch& fetch)
    : config_(config),
      fetch_(fetch),
      strips_(fetch.input.extended_height / lines_of_patch),
      atoms_in_beat_(std::max<std::uint64_t>(fetch.beat / fetch.cube.atom, 1)),
      slot_(fetch.start + config.data_request - request_lead),
      pipe_(config.data_pipe, !config.surface_pairs) {
    cut(true, fetch.pad_left);
    cut(false, fetch.cube.shape.width);
    cut(true, fetch.pad_right);
    for (Place place; !over(place); step(place)) {
        beats_ += is_padding(place) ? 0 : beats_of(run(place));
    }
}

void WinogradStream::cut(bool padding, std::uint32_t columns) {
    for (std::uint32_t first = 0; first < columns; first += columns_of_request) {
        blocks_.push_back({padding, first, std::min(columns_of_request, columns - first)});
    }
}

void WinogradStream::step(Place& place) const {
    ++place.count;
    if (++place.line < lines_of_patch) {
        return;
    }
    place.line = 0;
    if (++place.block < blocks_.size()) {
        return;
    }
    place.block = 0;
    if (++place.phase < fetch_.input.stride_y) {
        return;
    }
    place.phase = 0;
    if (++place.surface < fetch_.cube.surfaces()) {
        return;
    }
    place.surface = 0;
    ++place.strip;
}

std::uint32_t WinogradStream::padded_line(const Place& place) const {
    return (place.strip * lines_of_patch + place.line) * fetch_.input.stride_y + place.phase;
}

bool WinogradStream::is_padding(const Place& place) const {
    const std::uint32_t line = padded_line(place);
    const std::uint32_t top = fetch_.input.pad_top;
    return block(place).padding || line < top || line - top >= fetch_.cube.shape.height;
}

ByteRun WinogradStream::run(const Place& place) const {
    const Address line =
        fetch_.cube.line_address(place.surface, padded_line(place) - fetch_.input.pad_top);
    const Bytes atom = fetch_.cube.atom;
    return {line + atom * block(place).first, atom * block(place).columns};
}

std::uint64_t WinogradStream::beats_of(const ByteRun& run) const {
    return divide_up(run.end().value, fetch_.beat.value) - run.address.value / fetch_.beat.value;
}

bool WinogradStream::begin_request() {
    const bool strip =
        asked_.line == 0 && asked_.block == 0 && asked_.phase == 0 && asked_.surface == 0;
    if (slot_known_ || !strip) {
        return true;
    }
    const auto room = fetch_.room.known_for((asked_.strip + 1ULL) * fetch_.entries_per_strip);
    if (!room) {
        return false;
    }
    slot_ = with_room(slot_, room->time);
    slot_known_ = true;
    return true;
}

void WinogradStream::finish_request() {
    const std::uint32_t strip = asked_.strip;
    step(asked_);
    slot_known_ = false;
    slot_ += Cycles(asked_.strip == strip ? 1 : 2);  // room is checked between strips
}

void WinogradStream::ask_for_padding() {
    while (!over(asked_) && is_padding(asked_) && begin_request()) {
        padding_asked_.push_back(slot_);
        finish_request();
    }
}

std::optional<ReadBurst> WinogradStream::next_burst() {
    ask_for_padding();
    if (over(asked_) || is_padding(asked_) || !begin_request()) {
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

Cycles WinogradStream::unblocked(Cycles time) const {
    while (true) {
        std::size_t counted = 0;
        Cycles next;
        for (const Patch& patch : patches_) {
            if (patch.counted <= time && patch.read > time) {
                next = counted == 0 ? patch.read : std::min(next, patch.read);
                ++counted;
            }
        }
        if (counted < most_patches) {
            return time;
        }
        time = next;
    }
}

void WinogradStream::read_patches(std::uint32_t patches, Cycles from) {
    for (std::uint32_t i = 0; i < patches; ++i) {
        read_ = std::max(read_, from) + reads_of_patch;
        patches_.push_back({from, read_});
    }
    while (patches_.size() > 4 * most_patches) {
        patches_.pop_front();
    }
    if (patches > 0) {
        written(read_ + config_.data_write);
    }
}

void WinogradStream::finish_answer() {
    if (answered_.line + 1 == lines_of_patch) {
        const std::uint32_t together = columns_of_patch * fetch_.input.stride_x;
        const std::uint32_t before = column_ / together;
        column_ += block(answered_).columns;
        read_patches((column_ / together - before) * fetch_.input.stride_x, taken_ + patch_counted);
        column_ = answered_.block + 1 == blocks_.size() ? 0 : column_;
    }
    come_ = 0;
    handed_on_ = 0;
    step(answered_);
}

void WinogradStream::take_padding() {
    while (answered_.count < asked_.count && is_padding(answered_)) {
        const std::uint64_t cycles = divide_up(block(answered_).columns, atoms_in_beat_);
        taken_ = std::max(taken_, padding_asked_.front());
        padding_asked_.pop_front();
        for (std::uint64_t i = 0; i < cycles; ++i) {
            taken_ = unblocked(taken_ + Cycles(1));
        }
        finish_answer();
    }
}

void WinogradStream::take_atoms(Cycles time, std::uint32_t atoms) {
    const Cycles at_end = std::max(pipe_.offer(time), taken_ + Cycles(1));
    taken_ = unblocked(at_end);
    pipe_.taken(taken_);
    handed_on_ += atoms;
}

// as many atoms are handed on together as a beat holds, counted from the request's beginning
// source: NV_NVDLA_MCIF_READ_eg.v of nvdlav1, arb_cq_swizzle and last_odd
void WinogradStream::arrived(std::span<const Cycles> times) {
    for (const Cycles time : times) {
        take_padding();
        const std::uint64_t atoms = block(answered_).columns;
        const std::uint64_t at = run(answered_).address.value / fetch_.cube.atom.value + come_;
        come_ += std::min(atoms - come_, atoms_in_beat_ - at % atoms_in_beat_);
        const std::uint64_t whole =
            come_ == atoms ? come_ : come_ / atoms_in_beat_ * atoms_in_beat_;
        while (handed_on_ < whole) {
            take_atoms(time,
                       static_cast<std::uint32_t>(std::min(whole - handed_on_, atoms_in_beat_)));
        }
        if (come_ == atoms) {
            finish_answer();
            ask_for_padding();
            take_padding();
        }
    }
}

}  // namespace npuscope
