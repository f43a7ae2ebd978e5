// SPDX-License-Identifier: Apache-2.0
// What a form of a convolution needs in memory and in the buffer, and the predicted cycles of a way
// of cutting it: stripes through the MAC cells or the SDP's drain after them, and beats of data,
// weights and residual over the memory port, with the overlap of both. A closed form per tile; the
// machine itself is slower by what its queues add.
// source: the units' own timing rules (csc_timing.h, sdp_timing.h), nv_small RTL, measured
#pragma once

#include <algorithm>

#include "sim/compile/nvdla/conv_tiling.h"

namespace npuscope {

ConvOperands operands_of(const ConvProblem& problem, const ConvForm& form, const NpuConfig& npu);

/// Cycles in which the MAC cells load the weights of a full kernel group.
std::uint32_t load_cycles(const NpuConfig& npu);

/// Lower bounds of a layer's cycles, by resource.
struct LayerBounds {
    Cycles mac;
    Cycles sdp;
    Cycles memory;

    Cycles largest() const { return std::max({mac, sdp, memory}); }
    const char* name() const;
};

class TilingEstimate {
 public:
    /// Problem and costs must outlive the estimate.
    TilingEstimate(const ConvProblem& problem, const ConvForm& form, const TilingCosts& costs);

    const ConvOperands& operands() const { return operands_; }

    /// Sets estimate and bound_by.
    void fill(ConvTiling& tiling) const;
    /// For the whole layer, every byte moved once.
    LayerBounds bounds() const;

 private:
    struct TileTime {
        std::uint64_t mac = 0;    ///< in the cells, all kernel groups
        std::uint64_t drain = 0;  ///< through the SDP
        std::uint64_t compute = 0;
        std::uint64_t data = 0;  ///< beats of input
        std::uint64_t data_time =
            0;  ///< cycles until all of them have arrived, if nothing else is fetched
        std::uint64_t residual = 0;
        std::uint64_t written_in_turn = 0;  ///< beats for which reads leave less time
        bool awaits = false;                ///< starts only when the preceding tile is over
    };

    /// Beats over one port; written ones where they take time from reads.
    struct Beats {
        std::uint64_t read = 0;
        std::uint64_t written = 0;

        Beats& operator+=(const Beats& other) {
            read += other.read;
            written += other.written;
            return *this;
        }
    };

    /// Beats over the two ports.
    struct Moved {
        Beats memory;
        Beats sram;

        Beats& at(bool in_sram) { return in_sram ? sram : memory; }
    };

    /// All tiles of all slices, and where their time goes.
    struct Total {
        std::uint64_t cycles = 0;
        std::uint64_t mac = 0;
        std::uint64_t drain = 0;
        Moved beats;
    };

    TileTime time_of(const RowPiece& tile) const;
    /// Time of the tile after `tile`, which itself takes `now`.
    TileTime time_after(const TileTime& now, const RowPiece& tile, const RowPiece& next) const;
    /// Cycles that the cells wait for uncompressed weights after a tile's first kernel group.
    std::uint64_t wait_for_plain(const ConvTiling& tiling) const;
    Total total_of(const ConvTiling& tiling, std::uint32_t slices) const;
    const MemoryPace& pace_of(bool in_sram) const { return in_sram ? costs_.sram : costs_.memory; }
    std::uint64_t transfer_time(const Moved& beats) const;
    std::uint64_t first_data(const TileTime& tile, std::uint64_t weights) const;
    /// Beats of weights that their banks hold.
    std::uint64_t weight_room(const ConvTiling& tiling) const;
    /// Cycles until a tile whose data are not in yet computes, while `with_data` beats of weights
    /// come with them; subtracts those of its weights that are in by then.
    std::uint64_t start_of(const TileTime& tile, std::uint64_t with_data,
                           std::uint64_t& weights) const;
    /// Cycles from the launch of a program's first tile until its second one computes, at least; where
    /// its data are not prefetched, until it is launched.
    std::uint64_t second_start(const TileTime& tile, std::uint64_t weights, bool data_is_in) const;
    void add_work(const TileTime& tile, std::uint64_t weights, Total& total) const;
    /// These beats of weights and of input, and those of the tile's residual and result.
    Moved moved_with(const TileTime& tile, std::uint64_t weights, std::uint64_t data) const;

    const ConvProblem& problem_;
    const TilingCosts& costs_;
    ConvOperands operands_;
    std::uint64_t groups_;
};

}  // namespace npuscope
