// SPDX-License-Identifier: Apache-2.0
// In which order the write DMA asks for room in memory. As a rule a line of a surface is a request.
// Where an atom leaves as two of different surfaces, and of tiles and batches, requests
// hold two neighbouring pixels at most, in turns: of both surfaces, of the four lines of two tiles,
// or of all batches. source: NV_NVDLA_SDP_WDMA_cmd.v and NV_NVDLA_SDP_WDMA_DAT_in.v of nvdlav1,
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

    /// An operation begins whose atoms have so many lanes.
    void begin(const SdpJob& job, std::uint32_t lanes);
    /// Atoms do not leave as they come.
    bool reorders() const { return order_ != Order::Lines || batches_ > 1; }
    /// Adds what a run of atoms makes, counted over the batches; of a pair that is not whole yet,
    /// nothing.
    void add(const PixelRun& run, std::vector<Request>& requests);
    /// Neighbouring atoms as the pixels that they are, of batches one below the other.
    std::vector<PixelRun> in_raster(const PixelRun& run) const;
    /// Cycles that requests for atoms take in which no channel lies.
    Cycles padding() const;

 private:
    enum class Order { Lines, Doubled, Tiles, Batches };
    /// The pixel of an atom, in the order in which they come.
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
