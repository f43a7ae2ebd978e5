// SPDX-License-Identifier: Apache-2.0
#include "models/cdp/cdp_timing.h"

namespace npuscope {
namespace {

// source: NVDLA_CDP.rdl, NORMALZ_LEN: nine channels at most, four on either side
constexpr std::uint32_t kNeighbours = 4;
// This many atoms of narrow blocks make up for a cycle that is lost behind a full one while they
// wait. source: nv_small RTL, measured
constexpr std::uint32_t kAtomsInReserve = 5;

/// A block may begin with its first atom, and each atom has until its column's turn. Starting a
/// block when its first atom arrives costs a cycle; `taken_up` blocks have been started before.
/// source: NV_NVDLA_CDP_RDMA_eg.v, tran_rdy
Cycles begin_with(std::span<const Cycles> arrivals, bool taken_up) {
    Cycles begin = taken_up ? Cycles(0) : arrivals.front();
    for (std::size_t x = taken_up ? 0 : 1; x < arrivals.size(); ++x) {
        const Cycles turn(x + 1);
        begin = std::max(begin, arrivals[x] - std::min(turn, arrivals[x]));
    }
    return begin;
}

}  // namespace

std::uint64_t NormalisationPace::neighbour_rows() const {
    return divide_up(kNeighbours, shape_.throughput);
}

Cycles NormalisationPace::bubble_before(std::uint32_t columns) const {
    return last_columns_ >= shape_.bubble_columns && columns > 1 ? shape_.bubble : Cycles(0);
}

Cycles NormalisationPace::free_for(const NormalisationBlock& block) const {
    const bool makes_good = shape_.bubble > Cycles(0) && shape_.neighbours && full(block.columns) &&
                            last_columns_ > 1 && narrow_atoms_ > 0 &&
                            narrow_atoms_ <= kAtomsInReserve;
    return end_ + bubble_before(block.columns) - Cycles(makes_good ? 1 : 0);
}

Cycles NormalisationPace::result_of_last(Cycles next_begin, std::uint32_t next_columns) const {
    if (!shape_.neighbours) {
        return end_ + shape_.latency;
    }
    const std::uint32_t pitch = std::max(last_columns_, next_columns);
    return next_begin + Cycles((neighbour_rows() - 1) * pitch + last_columns_ - 1) + shape_.latency;
}

Cycles NormalisationPace::last_row_of_pairs(Cycles begin) {
    return shape_.neighbours ? pairs_.row(begin + shape_.latency, last_columns_) : Cycles(0);
}

Cycles NormalisationPace::rows_of_pairs(Cycles begin, std::uint32_t columns) {
    const auto rows = static_cast<std::uint32_t>(element_cycles(shape_.elements).value) -
                      (shape_.neighbours ? 1 : 0);
    const Cycles first =
        begin + shape_.latency + Cycles(shape_.neighbours ? std::max(columns, last_columns_) : 1);
    Cycles late;
    for (std::uint32_t row = 0; row < rows; ++row) {
        late += pairs_.row(first + Cycles(std::uint64_t{row} * columns) + late, columns);
    }
    return late;
}

std::optional<Cycles> NormalisationPace::take(const NormalisationBlock& block) {
    const Cycles there = begin_with(block.arrivals, !first_ && shape_.taken_up_early);
    const Cycles begin = first_ ? there : std::max(there, free_for(block));
    std::optional<Cycles> result;
    Cycles late;
    if (first_) {
        begin_ = begin;
    } else {
        waited_ += begin - free_for(block);
        if (shape_.pairs) {
            late = last_row_of_pairs(begin);
            result = pairs_.leave(last_columns_);
            if (shape_.neighbours && block.columns > last_columns_) {
                // if a wider block follows, its last result waits while nothing arrives anyway
                late -= std::min(pairs_.held(), Cycles(block.columns - last_columns_));
            }
        } else {
            result = result_of_last(begin - bubble_before(block.columns), block.columns);
        }
    }
    if (shape_.pairs) {
        late += rows_of_pairs(begin + late, block.columns);
    }
    end_ = begin + late + element_cycles(shape_.elements * block.columns);
    if (shape_.neighbours && block.columns < last_columns_) {
        end_ += Cycles(neighbour_rows() * (last_columns_ - block.columns));
    }
    narrow_atoms_ = full(block.columns) ? 0 : narrow_atoms_ + block.columns;
    last_columns_ = block.columns;
    first_ = false;
    return result;
}

Cycles NormalisationPace::finish() {
    if (shape_.pairs) {
        last_row_of_pairs(end_);
        return pairs_.leave(last_columns_);
    }
    return result_of_last(end_, last_columns_);
}

Cycles ResultPace::leave(Cycles ready, std::uint32_t atoms) {
    const Cycles first = std::max(ready, last_ + (atoms == 1 ? lone_ : interval));
    last_ = first + interval * (atoms - 1);
    return first;
}

Cycles PairedResults::freeze(Cycles gap) {
    constexpr std::uint64_t interpolation = 16;  // results; source: NV_NVDLA_CDP_DP_INTP_unit.v
    if (!last_wait_) {
        return Cycles(0);
    }
    const std::uint64_t wait = *last_wait_;
    const std::uint64_t bubble = wait + midst_;
    if (results_ >= bubble || results_ + interpolation < bubble) {
        return Cycles(0);
    }
    waited_[wait % waited_.size()] = false;
    if (bubble > results_ + gap.value && wait >= gap.value) {
        waited_[(wait - gap.value) % waited_.size()] = true;
    }
    last_wait_.reset();
    return Cycles(1);
}

void PairedResults::enter(Cycles there, std::size_t odd, std::size_t place) {
    // from a slot being left to the next result in it, in front of the queues and in one
    constexpr Cycles front{2};
    constexpr Cycles queue{3};
    const std::size_t stages = taken_.size();
    const Cycles before = taken_[(results_ + stages - 1) % stages];
    if (midst_ > 0 && there > before + Cycles(1)) {
        there += freeze(there - before);
    }
    // the stages between them absorb the wait if they are not full of results
    const bool bubble = midst_ > 0 &&
                        waited_[(results_ + waited_.size() - midst_) % waited_.size()] &&
                        there <= before;
    const Cycles unhindered = std::max(there, before + Cycles(bubble ? 2 : 1));
    const Cycles taken = std::max(unhindered, entered_[1] + front);
    waited_[results_ % waited_.size()] = taken > unhindered;
    if (taken > unhindered) {
        last_wait_ = results_;
    }
    taken_[results_++ % stages] = taken;
    Cycles time = std::max(taken, entered_[0] + Cycles(1));
    const std::uint64_t number = left_[odd] + place;
    if (number >= places) {
        time = std::max(time, leaves_[odd][number % places] + queue);
    }
    entered_ = {time, entered_[0]};
}

Cycles PairedResults::row(Cycles begin, std::uint32_t columns) {
    Cycles late;
    for (std::uint32_t x = 0; x < columns; ++x) {
        const Cycles there = begin + Cycles(x) + late;
        Cycles room = there;
        if (results_ >= taken_.size()) {
            room = std::max(there, taken_[results_ % taken_.size()] + Cycles(taken_.size()));
        }
        // the bubble also delays what enters after the waiting one
        if (midst_ > 0 && held_ > Cycles(0) && waited_[results_ % waited_.size()]) {
            room = std::max(there, begun_ + Cycles(2));
        }
        held_ = room - there;
        begun_ = room;
        late += room - there;
        enter(room, x % 2, x / 2);
    }
    return late;
}

Cycles PairedResults::leave(std::uint32_t columns) {
    const Cycles first = std::max(entered_[0], last_beat_ + Cycles(2));
    for (std::uint32_t x = 0; x < columns; ++x) {
        leaves_[x % 2][left_[x % 2]++ % places] = first + Cycles(x / 2);
    }
    last_beat_ = first + Cycles((columns - 1) / 2);
    return first;
}

}  // namespace npuscope
