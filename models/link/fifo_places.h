// SPDX-License-Identifier: Apache-2.0
// Slots ("places") that runs of memory use in a read DMA's latency FIFO: beats of a run, counted
// from its start, wherever that is in a bus beat. A slot is filled by the last bus beat that it has
// a part of; where a beat fills two, the second one a cycle later. Times only.
// source: NV_NVDLA_MCIF_READ_IG_bpt.v of nvdlav1, slot_needed, and NV_NVDLA_MCIF_READ_eg.v
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/base/quantity.h"
#include "models/layout/feature_cube.h"

namespace npuscope {

class FifoPlaces {
 public:
    FifoPlaces(Bytes beat, std::span<const ByteRun> runs)
        : beat_(beat.value), amid_(std::ranges::any_of(runs, [&](const ByteRun& run) {
              return run.address.value % beat.value > 0;
          })) {}

    /// Runs begin amid beats; otherwise places are beats.
    bool amid() const { return amid_; }
    std::uint64_t of(const ByteRun& run) const { return divide_up(run.bytes.value, beat_); }
    /// Places filled by the first `beats` bus beats that a run lies in.
    std::uint64_t until(const ByteRun& run, std::uint64_t beats) const {
        if (!amid_) {
            return beats;
        }
        const std::uint64_t skipped = run.address.value % beat_;
        const std::uint64_t end = beats * beat_;
        if (end >= skipped + run.bytes.value) {
            return of(run);
        }
        return (end - std::min(end, skipped)) / beat_;
    }
    /// Requests the next beats of a run, from number `first` on, number `of_stream` of the stream.
    void ask(const ByteRun& run, std::uint64_t first, std::uint64_t beats,
             std::uint64_t of_stream) {
        if (!amid_) {
            asked_ += beats;
            return;
        }
        for (std::uint64_t beat = first; beat < first + beats; ++beat) {
            const std::uint64_t filled = until(run, beat + 1) - until(run, beat);
            for (std::uint64_t i = 0; i < filled; ++i) {
                places_.push_back({of_stream + beat - first, i > 0});
            }
        }
        asked_ = places_.size();
    }
    void reserve(std::uint64_t places) { places_.reserve(amid_ ? places : 0); }
    /// Places requested so far.
    std::uint64_t asked() const { return asked_; }
    /// Which place must be free for a FIFO of `fifo` places to accept these; nothing if it does
    /// already.
    std::optional<std::uint64_t> awaited(std::uint64_t places, std::uint64_t fifo) const {
        return places > fifo ? std::optional(places - 1 - fifo) : std::nullopt;
    }
    /// The beat of the stream that fills a place has arrived.
    bool is_filled(std::uint64_t place, const std::vector<Cycles>& arrivals) const {
        return place < asked_ && beat_of(place) < arrivals.size();
    }
    /// Beat of the stream that fills a place that was requested.
    std::uint64_t beat_of(std::uint64_t place) const { return amid_ ? places_[place].beat : place; }
    /// When a place is filled, from the arrivals of the stream's beats.
    Cycles filled(std::uint64_t place, const std::vector<Cycles>& arrivals) const {
        return arrivals[beat_of(place)] + Cycles(amid_ && places_[place].shared ? 1 : 0);
    }

 private:
    struct Place {
        std::uint64_t beat = 0;
        bool shared = false;  // with the previous place
    };
    std::uint64_t beat_;
    bool amid_;
    std::uint64_t asked_ = 0;
    std::vector<Place> places_;  // where runs begin amid beats
};

}  // namespace npuscope
