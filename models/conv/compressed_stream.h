// SPDX-License-Identifier: Apache-2.0
// When the three surfaces of compressed weights are requested, and when each kernel group is
// complete in the convolution buffer. Mask (WMB) and values are cut into pieces of eight atoms, and
// take turns of several pieces each; an atom of sizes (WGS), which holds those of eight groups,
// precedes both. While sizes are unpacked, one per cycle, no response is accepted. A piece waits
// until there is room for it; meanwhile the other surface has its turn. Not modelled: turn weights
// other than the reset value of S_ARBITER. source: NV_NVDLA_CDMA_wt.v and
// NV_NVDLA_CDMA_WT_wrr_arb.v of nvdlav1; nv_full RTL, simulated
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/conv/cdma_timing.h"
#include "models/layout/weight_layout.h"

namespace npuscope {

/// Bytes up to the end of each kernel group.
struct GroupEnds {
    std::vector<std::uint64_t> weights;
    std::vector<std::uint64_t> mask;
};
/// Where `values` bytes of weights are spread evenly over the kernels.
GroupEnds even_group_ends(const WeightLayout& layout, Bytes values);

struct CompressedFetch {
    Address weights;
    Address mask;
    Address sizes;
    std::vector<std::uint64_t> weight_ends;  ///< bytes up to the end of each kernel group
    std::vector<std::uint64_t> mask_ends;    ///< the same for the mask
    Bytes beat{64};
    Bytes entry{128};
    Cycles start{};
    FetchRoom weight_room{};
    FetchRoom mask_room{};
};

/// A request of compressed weights.
struct CompressedPiece {
    enum class Store { Sizes, Mask, Weights };
    Store store = Store::Weights;
    ByteRun run;
    std::uint64_t beats = 0;
    std::uint64_t end = 0;  ///< bytes of the surface up to its end
    std::size_t group = 0;  ///< the first one that is incomplete before it
};

/// The order in which requests are made.
struct CompressedOrder {
    std::vector<CompressedPiece> pieces;
    std::vector<std::uint64_t> group_ends;  ///< beats that complete each group
    std::uint64_t beats = 0;
};
CompressedOrder compressed_order(const CompressedFetch& fetch);

class CompressedWeightStream : public GroupStream {
 public:
    CompressedWeightStream(const CdmaConfig& config, const CompressedFetch& fetch);

    std::uint64_t beats() const override { return order_.beats; }
    std::optional<ReadBurst> next_burst() override;
    void arrived(std::span<const Cycles> times) override;

 private:
    std::optional<ReleaseLedger::Step> room_for(const CompressedPiece& piece) const;

    const CompressedFetch fetch_;
    const CompressedOrder order_;
    std::size_t piece_ = 0;  // requested next
    Cycles time_;
    std::size_t answered_ = 0;       // piece whose next beat arrives
    std::uint64_t beats_of_it_ = 0;  // that have arrived
    std::size_t sizes_ = 0;          // groups whose size has arrived
    Cycles free_;                    // for the next response
};

}  // namespace npuscope
