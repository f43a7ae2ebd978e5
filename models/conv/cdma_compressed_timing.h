// SPDX-License-Identifier: Apache-2.0
// When the three surfaces of compressed weights are requested, and when each kernel group is whole
// in the convolution buffer. Group by group: the sizes (WGS) in atoms of 32 bytes that hold eight
// groups each, the group's part of the mask (WMB), its values. A piece of eight beats waits until
// there is room for it. Not modelled: values and mask of different groups in turns (S_ARBITER);
// timing was never measured. source: nv_full C model, CDMA; NVDLA doc, unit description
#pragma once

#include <vector>

#include "models/conv/cdma_weight_timing.h"

namespace npuscope {

struct CompressedFetch {
    Address weights;
    Address mask;
    Address sizes;
    std::vector<std::uint64_t> weight_ends;  ///< bytes up to the end of each kernel group
    std::vector<std::uint64_t> mask_ends;    ///< the same of the mask
    Bytes beat{64};
    Bytes entry{128};
    Cycles start{};
    FetchRoom weight_room{};
    FetchRoom mask_room{};
};

class CompressedWeightStream : public GroupStream {
 public:
    CompressedWeightStream(const CdmaConfig& config, const CompressedFetch& fetch);

    std::uint64_t beats() const override { return total_; }
    std::optional<ReadBurst> next_burst() override;
    void arrived(std::span<const Cycles> times) override;

    std::uint64_t group_end(std::size_t group) const override { return ends_[group]; }
    Cycles group_written(std::size_t group) const override { return written_[group]; }
    bool waited_for_room(std::size_t group) const override { return waited_[group]; }

 private:
    enum class Store { None, Weights, Mask };
    /// A run of one surface.
    struct Part {
        ByteRun run;
        std::uint64_t beats;
        Store store;
        std::uint64_t begin;  ///< bytes of the surface in front of it
        std::size_t group;
    };
    /// The part of a surface that the beats of a group add.
    void add_part(Store store, Address surface, std::size_t group);
    std::optional<ReleaseLedger::Step> room_for(const Part& part, std::uint64_t beats) const;

    const CdmaConfig config_;
    const CompressedFetch fetch_;
    std::vector<Part> parts_;
    std::vector<std::uint64_t> ends_;  // beats up to the end of each group
    std::uint64_t total_ = 0;
    std::size_t part_ = 0;         // that is being requested
    std::uint64_t requested_ = 0;  // beats of it
    Cycles time_;
    std::uint64_t arrived_ = 0;
    Cycles last_arrival_;
    std::vector<Cycles> written_;
    std::vector<bool> waited_;
};

}  // namespace npuscope
