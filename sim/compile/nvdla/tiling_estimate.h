// SPDX-License-Identifier: Apache-2.0
// What a form of a convolution needs of memory and of the buffer, and the cycles that a way of cutting
// it is predicted to take: stripes through the MAC cells or
// the SDP's drain after them, and beats of data, weights and residual over the memory port, with
// what of both can run at one time. A closed form per tile; the machine itself is slower by what
// its queues add.
// source: the units' own timing rules (csc_timing.h, sdp_timing.h), nv_small RTL, measured
#pragma once

#include <algorithm>

#include "sim/compile/nvdla/conv_tiling.h"

namespace npuscope {

ConvOperands operands_of(const ConvProblem& problem, const ConvForm& form, const NpuConfig& npu);

/// Cycles in which the MAC cells take the weights of a whole kernel group.
std::uint32_t load_cycles(const NpuConfig& npu);

/// Cycles that a layer cannot be faster than, by what.
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
    /// Of the whole layer, every byte moved once.
    LayerBounds bounds() const;

 private:
    struct TileTime {
        std::uint64_t mac = 0;    ///< in the cells, all kernel groups
        std::uint64_t drain = 0;  ///< through the SDP
        std::uint64_t compute = 0;
        std::uint64_t data = 0;       ///< beats of input
        std::uint64_t data_time = 0;  ///< cycles until they are in, if alone
        std::uint64_t residual = 0;
        bool awaits = false;  ///< starts only when the tile before is over
    };

    /// All tiles of all slices, what of it is spent where.
    struct Total {
        std::uint64_t cycles = 0;
        std::uint64_t mac = 0;
        std::uint64_t drain = 0;
        std::uint64_t beats = 0;  ///< read
        std::uint64_t sram_beats = 0;
    };

    TileTime time_of(const ConvTile& tile) const;
    /// Of the tile after `tile`, which takes `now`.
    TileTime time_after(const TileTime& now, const ConvTile& tile, const ConvTile& next) const;
    Total total_of(const ConvTiling& tiling, std::uint32_t slices) const;
    std::uint64_t transfer_time(std::uint64_t beats, std::uint64_t sram_beats) const;
    std::uint64_t first_data(const TileTime& tile, std::uint64_t weights) const;
    /// Beats of weights that their banks hold.
    std::uint64_t weight_room(const ConvTiling& tiling) const;
    /// Cycles until a tile whose data are not in yet computes, while so many beats of weights come
    /// with them; takes away what of its weights is in then.
    std::uint64_t start_of(const TileTime& tile, std::uint64_t with_data,
                           std::uint64_t& weights) const;
    void add_work(const TileTime& tile, std::uint64_t weights, Total& total) const;
    /// Beats of DRAM and of SRAM that move while a tile computes.
    std::pair<std::uint64_t, std::uint64_t> moved_meanwhile(std::uint64_t weights,
                                                            std::uint64_t residual,
                                                            std::uint64_t data) const;

    const ConvProblem& problem_;
    const TilingCosts& costs_;
    ConvOperands operands_;
    std::uint64_t groups_;
};

}  // namespace npuscope
