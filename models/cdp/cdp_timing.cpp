// SPDX-License-Identifier: Apache-2.0
#include "models/cdp/cdp_timing.h"

namespace npuscope {
namespace {

// source: NVDLA_CDP.rdl, NORMALZ_LEN: nine channels at most, four on either side
constexpr std::uint32_t kNeighbours = 4;
// So few atoms of narrow blocks make good for a cycle that is lost behind a full one
// while they wait. source: nv_small RTL, measured
constexpr std::uint32_t kAtomsInReserve = 5;

/// A block may begin with its first atom, and each atom has until its column's turn. Taking a block up
/// when its first atom is there costs a cycle; `taken_up` blocks have been before.
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

std::optional<Cycles> NormalisationPace::take(const NormalisationBlock& block) {
    const Cycles there = begin_with(block.arrivals, !first_ && shape_.taken_up_early);
    const Cycles begin = first_ ? there : std::max(there, free_for(block));
    std::optional<Cycles> result;
    if (first_) {
        begin_ = begin;
    } else {
        waited_ += begin - free_for(block);
        result = result_of_last(begin - bubble_before(block.columns), block.columns);
    }
    end_ = begin + element_cycles(shape_.elements * block.columns);
    if (shape_.neighbours && block.columns < last_columns_) {
        end_ += Cycles(neighbour_rows() * (last_columns_ - block.columns));
    }
    narrow_atoms_ = full(block.columns) ? 0 : narrow_atoms_ + block.columns;
    last_columns_ = block.columns;
    first_ = false;
    return result;
}

Cycles ResultPace::leave(Cycles ready, std::uint32_t atoms) {
    const std::uint64_t beats = divide_up(atoms, together_);
    const Cycles first = std::max(ready, last_ + (atoms == 1 ? lone_ : interval_));
    last_ = first + interval_ * (beats - 1);
    return first;
}

}  // namespace npuscope
