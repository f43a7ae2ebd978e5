// SPDX-License-Identifier: Apache-2.0
// When local response normalisation takes a block of columns and when its results leave. A block of
// one surface enters channel by channel, within a channel column by column:
//
//     surface 0: c0x0 c0x1 .. c0xN c1x0 .. c7xN   surface 1: c8x0 ..      (columns x0..xN)
//
// Where several channels of a column enter per cycle, such a group counts as one here. The sum over
// neighbours releases a channel when the fourth one after it enters; so a surface is complete with
// the fourth channel of the next surface, or, if it is the last one, while the next block enters,
// at that block's pitch, or by itself at the end of the cube. A block that is narrower than the
// previous one waits until that one's channels are out. With the sum bypassed, a surface is
// complete when it has entered. Blocks have `block_columns` except the last ones of a line. Not
// modelled: a write channel so slow that the pipeline waits for it. Source: NV_NVDLA_CDP_RDMA_eg.v
// for the order; nv_small RTL, measured for the rest.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/base/quantity.h"

namespace npuscope {

/// What the timing of a normalisation depends on.
struct NormalisationShape {
    std::uint32_t elements = 8;    ///< of an atom
    std::uint32_t throughput = 1;  ///< elements per cycle
    std::uint32_t block_columns = 8;
    bool neighbours = true;  ///< channels are summed, not bypassed
    /// Lost after a block of `bubble_columns` or more columns, except before a single column.
    Cycles bubble{1};
    std::uint32_t bubble_columns = 8;
    /// Blocks after the first start with the end of the previous one, not with their first atom.
    bool taken_up_early = true;
    Cycles latency{54};         ///< from the element that completes a surface to its first result
    bool pairs = false;         ///< results leave in beats of two atoms
    std::uint32_t stages = 27;  ///< results between the sum and the write DMA, if in pairs; source:
                                ///< nv_full RTL, simulated
    /// Results between a wait at their end and the bubble that it causes midway; 0: it causes none.
    std::uint32_t midst = 0;
};

/// One block of one surface.
struct NormalisationBlock {
    std::uint32_t columns = 1;
    std::span<const Cycles> arrivals;  ///< of its atoms
};

/// How results reach memory where a beat holds two atoms. Channels arrive as they entered, in rows:
/// some channels of all columns. Each row has a queue of four for its even columns and one for the
/// odd ones; a block's beats leave, one per cycle after a command, when its last row has arrived, and
/// make room for those of the next block, which two more slots in front of the queues bridge. The
/// stages from the sum on hold only so many results; what waits at their end delays those before
/// them.
/// source: NV_NVDLA_CDP_wdma.v of nvdlav1, dp2wdma_rdy; nv_full RTL, simulated
class PairedResults {
 public:
    /// `stages`: results that the stages hold; `midst`: number of results after which a wait at
    /// their end costs one more cycle, because the fp16 interpolation does not close up; 0: no
    /// extra cycle.
    PairedResults(std::uint32_t stages, std::uint32_t midst)
        : taken_(stages), midst_(midst), waited_(stages + 1) {}

    /// A row of a block, whose first result would be at the end of the stages at `begin`; returns
    /// by how many cycles the last one was delayed in front of them.
    Cycles row(Cycles begin, std::uint32_t columns);
    /// By how many of these cycles the last result of the row itself was delayed.
    Cycles held() const { return held_; }
    /// When the first beat of a block leaves whose rows have all arrived.
    Cycles leave(std::uint32_t columns);

 private:
    static constexpr std::size_t places = 4;  // source: NV_NVDLA_CDP_WDMA_dat_fifo

    /// A result of an even or an odd column enters its queue, as number `place` of the block there.
    void enter(Cycles there, std::size_t odd, std::size_t place);

    /// A gap before the next result absorbs a wait at the end of the stages, except for the
    /// returned cycles if that was in the interpolation, which froze; the bubble then comes earlier
    /// by the gap.
    Cycles freeze(Cycles gap);

    std::uint64_t results_ = 0;
    std::optional<std::uint64_t>
        last_wait_;              // the last result that waited at the end of the stages
    std::vector<Cycles> taken_;  // when the latest ones left the stages, as a ring
    std::uint32_t midst_;
    std::vector<bool> waited_;  // also a ring, one longer: whether they waited at the stages' end
    Cycles held_;               // the wait of the last one in front of the stages
    Cycles begun_;              // when that one would be at their end
    std::array<Cycles, 2> entered_{};      // into a queue: the last result, and the previous one
    std::array<std::uint64_t, 2> left_{};  // even and odd columns of a row that have left
    std::array<std::array<Cycles, places>, 2> leaves_{};  // the latest of them
    Cycles last_beat_;
};

class NormalisationPace {
 public:
    explicit NormalisationPace(const NormalisationShape& shape)
        : shape_(shape), pairs_(shape.stages, shape.midst) {}

    /// Takes the next block; returns when the first result of the previous block is ready, or, in
    /// pairs, leaves.
    std::optional<Cycles> take(const NormalisationBlock& block);
    /// After the last block: when its first result is ready, or leaves.
    Cycles finish();

    /// Nothing more is taken before `time`: results found no room.
    void hold_until(Cycles time) { end_ = std::max(end_, time); }
    /// When the first block was begun, and when the last one has entered completely.
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
    /// The last row of the previous block enters the result path while a block begins.
    Cycles last_row_of_pairs(Cycles begin);
    /// So do the other rows of a block; returns the cycles by which they were delayed.
    Cycles rows_of_pairs(Cycles begin, std::uint32_t columns);
    Cycles bubble_before(std::uint32_t columns) const;

    NormalisationShape shape_;
    bool first_ = true;
    std::uint32_t last_columns_ = 0;
    std::uint32_t narrow_atoms_ = 0;  // since the last full block
    Cycles begin_;
    Cycles end_;
    Cycles waited_;
    PairedResults pairs_;
};

/// When results leave for memory, in sequence: atoms of a block every second cycle, the only atom
/// of a block `lone` cycles after the previous one.
class ResultPace {
 public:
    static constexpr Cycles interval{2};  // source: nv_small RTL, measured without contention

    explicit ResultPace(Cycles lone = Cycles(3)) : lone_(lone) {}
    /// When the first atom of a block leaves.
    Cycles leave(Cycles ready, std::uint32_t atoms);

 private:
    Cycles lone_;
    Cycles last_;
};

}  // namespace npuscope
