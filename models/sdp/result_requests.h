// SPDX-License-Identifier: Apache-2.0
// In which order the write DMA asks for room in memory. As a rule a line of a surface is a request.
// Where an atom leaves as two of different surfaces, and where atoms come tile by tile, requests
// hold two neighbouring pixels at most, in turns: of both surfaces, or of the four lines of two
// tiles. Not modelled: the turns of several batches. source: NV_NVDLA_SDP_WDMA_cmd.v and
// NV_NVDLA_SDP_WDMA_DAT_in.v of nvdlav1, cfg_mode_8to16 and cfg_mode_winog
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

    /// An operation begins whose atoms have so many lanes.
    void begin(const SdpJob& job, std::uint32_t lanes);
    /// What a run of atoms makes, counted over the batches; of a pair that is not whole yet, nothing.
    std::vector<Request> of(const PixelRun& run);
    /// Neighbouring atoms as the pixels that they are, where they come tile by tile.
    std::vector<PixelRun> in_raster(const PixelRun& run) const;

 private:
    enum class Order { Lines, Doubled, Tiles };
    std::vector<PixelRun> surfaces_of(const PixelRun& run) const {
        return surface_runs(cube_, {channels_, lanes_}, run);
    }
    bool begins_pair(std::uint64_t pixel) const;
    void add_doubled(const PixelRun& run, std::vector<Request>& requests);

    Order order_ = Order::Lines;
    FeatureCube cube_;
    std::uint32_t channels_ = 0;
    std::uint32_t lanes_ = 1;
    bool held_ = false;  // the first pixel of a pair waits for the second
};

}  // namespace npuscope
