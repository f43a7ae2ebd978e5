// SPDX-License-Identifier: Apache-2.0
// When local response normalisation takes a block of columns and when its results leave. A block of
// one surface enters channel by channel, in a channel column by column:
//
//     surface 0: c0x0 c0x1 .. c0xN c1x0 .. c7xN   surface 1: c8x0 ..      (columns x0..xN)
//
// Where several channels of a column enter in a cycle, such a group counts as one here.
// The sum over neighbours lets a channel out when the fourth one after it enters; so a surface is
// complete with the fourth channel of the surface after it, or, being the last one, while the next
// block enters, at that block's pitch, or by itself at the end of the cube. A block that is
// narrower than the one before it waits until that one's channels are out. With the sum bypassed, a
// surface is complete when it has entered. Blocks are of `block_columns` except the last ones of a
// line. Not modelled: a write channel so slow that the pipeline waits for it. Source:
// NV_NVDLA_CDP_RDMA_eg.v for the order; nv_small RTL, measured for the rest.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "models/base/quantity.h"

namespace npuscope {

/// What the time of a normalisation depends on.
struct NormalisationShape {
    std::uint32_t elements = 8;    ///< of an atom
    std::uint32_t throughput = 1;  ///< elements per cycle
    std::uint32_t block_columns = 8;
    bool neighbours = true;  ///< channels are summed, not bypassed
    /// Lost behind a block of so many columns or more, except before a single column.
    Cycles bubble{1};
    std::uint32_t bubble_columns = 8;
    /// Blocks after the first are taken up with the end of the one before, not with their first atom.
    bool taken_up_early = true;
    Cycles latency{54};  ///< from the element that completes a surface to its first result
};

/// One block of one surface.
struct NormalisationBlock {
    std::uint32_t columns = 1;
    std::span<const Cycles> arrivals;  ///< of its atoms
};

class NormalisationPace {
 public:
    explicit NormalisationPace(const NormalisationShape& shape) : shape_(shape) {}

    /// Takes the next block; the answer is when the first result of the block before is ready.
    std::optional<Cycles> take(const NormalisationBlock& block);
    /// Behind the last block: when its first result is ready.
    Cycles finish() const { return result_of_last(end_, last_columns_); }

    /// Nothing more is taken before `time`: results found no room.
    void hold_until(Cycles time) { end_ = std::max(end_, time); }
    /// When the first block was begun, and when the last one has entered whole.
    Cycles input_begin() const { return begin_; }
    Cycles input_end() const { return end_; }
    /// Cycles in between in which no block was there.
    Cycles waited() const { return waited_; }

 private:
    Cycles element_cycles(std::uint32_t elements) const {
        return Cycles(divide_up(elements, shape_.throughput));
    }
    bool full(std::uint32_t columns) const { return columns == shape_.block_columns; }
    /// Rows of channels, one entering after the other, that hold the neighbours on one side.
    std::uint64_t neighbour_rows() const;
    Cycles result_of_last(Cycles next_begin, std::uint32_t next_columns) const;
    Cycles free_for(const NormalisationBlock& block) const;
    Cycles bubble_before(std::uint32_t columns) const;

    NormalisationShape shape_;
    bool first_ = true;
    std::uint32_t last_columns_ = 0;
    std::uint32_t narrow_atoms_ = 0;  // since the last full block
    Cycles begin_;
    Cycles end_;
    Cycles waited_;
};

/// When results leave for memory, one after the other: atoms of a block every second cycle, an atom
/// alone in its block `lone` cycles after the one before; or whole beats of several atoms a cycle.
class ResultPace {
 public:
    static constexpr Cycles interval{2};  // source: nv_small RTL, measured without contention

    explicit ResultPace(Cycles lone = Cycles(3)) : lone_(lone) {}
    /// So many atoms are a beat, which leaves in a cycle.
    /// source: NV_NVDLA_CDP_wdma.v of nvdlav1
    static ResultPace of_beats(std::uint32_t atoms) {
        ResultPace pace(Cycles(1));
        pace.interval_ = Cycles(1);
        pace.together_ = atoms;
        return pace;
    }

    /// When the first atom of a block leaves.
    Cycles leave(Cycles ready, std::uint32_t atoms);

 private:
    Cycles lone_;
    Cycles interval_ = interval;
    std::uint32_t together_ = 1;  // atoms of a beat
    Cycles last_;
};

}  // namespace npuscope
