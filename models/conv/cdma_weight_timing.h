// SPDX-License-Identifier: Apache-2.0
// When weights are requested, and when each kernel group is whole in the convolution buffer. The
// request of a piece of eight beats waits until what was asked for and not yet released fits into
// the weight banks and one piece more. Source: nv_small RTL, CDMA_wt.v, wt_req_overflow; exact on
// 442 measured rows.
#pragma once

#include <vector>

#include "models/conv/cdma_config.h"
#include "models/conv/fetch_room.h"
#include "models/link/read_stream.h"

namespace npuscope {

struct WeightFetch {
    Address address;
    std::vector<std::uint64_t> group_ends;  ///< beats up to the end of each kernel group
    Bytes beat{8};
    std::uint64_t beats_per_entry = 1;
    Cycles start{};
    FetchRoom room{};
};

/// A fetch of weights, whatever the surfaces: kernel groups one after the other.
class GroupStream : public ReadStream {
 public:
    /// Beats up to the end of a group.
    virtual std::uint64_t group_end(std::size_t group) const = 0;
    /// When the group is whole in the buffer; its last beat has arrived.
    virtual Cycles group_written(std::size_t group) const = 0;
    /// The channel stood still before this group, because there was no room for it.
    virtual bool waited_for_room(std::size_t group) const = 0;
};

class WeightStream : public GroupStream {
 public:
    WeightStream(const CdmaConfig& config, WeightFetch fetch);

    std::uint64_t beats() const override { return fetch_.group_ends.back(); }
    std::optional<ReadBurst> next_burst() override;
    void arrived(std::span<const Cycles> times) override;

    std::uint64_t group_end(std::size_t group) const override { return fetch_.group_ends[group]; }
    Cycles group_written(std::size_t group) const override { return written_[group]; }
    bool waited_for_room(std::size_t group) const override { return waited_[group]; }

 private:
    std::uint64_t piece_end(std::uint64_t beat) const;
    void note_gap(Cycles arrival);

    const CdmaConfig config_;
    WeightFetch fetch_;
    std::uint64_t requested_ = 0;
    std::size_t group_ = 0;               // that is being requested
    std::vector<std::uint64_t> limited_;  // beats in front of which a request waited for room
    std::size_t limits_passed_ = 0;
    std::uint64_t arrived_ = 0;
    Cycles last_arrival_;
    std::vector<Cycles> written_;
    std::vector<bool> waited_;
};

}  // namespace npuscope
