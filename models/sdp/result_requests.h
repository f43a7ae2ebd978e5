// SPDX-License-Identifier: Apache-2.0
// The order in which the write DMA requests room in memory. Usually a line of a surface is one
// request. Where an atom leaves as two of different surfaces, and for tiles and batches, requests
// hold at most two neighbouring pixels, alternating between both surfaces, the four lines of two
// tiles, or all batches. source: NV_NVDLA_SDP_WDMA_cmd.v and NV_NVDLA_SDP_WDMA_DAT_in.v of nvdlav1,
// cfg_mode_8to16, cfg_mode_winog and cfg_mode_batch
#pragma once

#include <optional>
#include <vector>

#include "models/link/surface_port.h"
#include "models/sdp/sdp_job.h"

namespace npuscope {

class ResultRequests {
 public:
    struct Request {
        PixelRun run;
        std::size_t batch = 0;  ///< whose cube it is written to
    };

    /// An operation begins whose atoms have `lanes` lanes.
    void begin(const SdpJob& job, std::uint32_t lanes);
    /// Atoms do not leave in the order in which they arrive.
    bool reorders() const { return order_ != Order::Lines || batches_ > 1; }
    /// Adds the requests of a run of atoms, counted over the batches; nothing for an incomplete
    /// pair.
    void add(const PixelRun& run, std::vector<Request>& requests);
    /// Neighbouring atoms as pixels in raster order, batches one below the other.
    std::vector<PixelRun> in_raster(const PixelRun& run) const;
    /// Cycles taken by requests for atoms that hold no channel.
    Cycles padding() const;

 private:
    enum class Order { Lines, Doubled, Tiles, Batches };
    /// The pixel of an atom, in order of arrival.
    std::uint64_t tile_pixel(std::uint64_t place) const;
    std::uint64_t batch_pixel(std::uint64_t place) const;
    std::vector<PixelRun> surfaces_of(const PixelRun& run) const {
        return surface_runs(cube_, {channels_, lanes_}, run);
    }
    void add_lines(const PixelRun& run, std::vector<Request>& requests) const;
    bool begins_pair(std::uint64_t pixel) const;
    void add_doubled(const PixelRun& run, std::vector<Request>& requests);

    Order order_ = Order::Lines;
    FeatureCube cube_;
    std::uint32_t channels_ = 0;
    std::uint32_t batches_ = 1;
    std::uint32_t lanes_ = 1;
    bool held_ = false;  // the first pixel of a pair waits for the second
    Cycles free_;        // for the next request of doubled atoms
};

}  // namespace npuscope
