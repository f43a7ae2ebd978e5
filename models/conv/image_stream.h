// SPDX-License-Identifier: Apache-2.0
// When pixels are requested, and when their packed lines are in the convolution buffer. A line is
// cut into bundles of both planes; a bundle is requested plane by plane, and padding has requests
// too, which memory never sees. Packing reads a bundle as soon as all of it has arrived.
// source: NV_NVDLA_CDMA_IMG_sg.v and NV_NVDLA_CDMA_IMG_pack.v, of all generations
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/conv/cdma_timing.h"

namespace npuscope {

struct ImageFetch {
    PixelSurface pixels;
    std::uint32_t pad_left = 0;          ///< pixels
    std::uint32_t pad_right = 0;         ///< pixels
    std::uint64_t entries_per_line = 1;  ///< as the buffer counts them
    Bytes beat{8};
    Cycles start{};
    FetchRoom room{};
};

/// One request of a line, in atoms of memory.
struct ImageRequest {
    std::uint32_t plane = 0;
    bool padding = false;
    std::uint32_t first = 0;  ///< atom of the line
    std::uint32_t atoms = 0;
    std::uint32_t reads = 0;  ///< by the packing, for the bundle that ends with it; otherwise 0
};

/// What a line's requests are cut from, and how its packing ends.
struct ImageLinePlan {
    std::vector<ImageRequest> requests;
    bool packed_late = false;  ///< the last entry follows one cycle after the last read
};
ImageLinePlan image_line(const ImageFetch& fetch);

class ImageStream : public DataStream {
 public:
    ImageStream(const CdmaConfig& config, const ImageFetch& fetch);

    std::uint64_t beats() const override { return beats_; }
    std::optional<ReadBurst> next_burst() override;
    void arrived(std::span<const Cycles> times) override;

 private:
    /// The request that is made or answered next.
    struct Place {
        std::uint32_t y = 0;
        std::size_t request = 0;
        std::uint64_t count = 0;  ///< requests before it
    };
    const ImageRequest& at(const Place& place) const { return line_.requests[place.request]; }
    bool over(const Place& place) const { return place.y == fetch_.pixels.height; }
    void step(Place& place) const;
    ByteRun run(const Place& place) const;
    std::uint64_t beats_of(const ByteRun& run) const;
    /// Fixes the slot of the next request; false as long as it is not known.
    bool begin_request();
    void finish_request();
    void ask_for_padding();
    void take_padding();
    /// The answer to the next request is complete.
    void finish_answer();

    const CdmaConfig config_;
    const ImageFetch fetch_;
    const ImageLinePlan line_;
    const std::uint64_t atoms_in_beat_;
    std::uint64_t beats_ = 0;
    Place asked_;
    bool slot_known_ = false;
    Cycles slot_;  // of the request that is made next
    Place answered_;
    std::uint64_t beats_left_ = 0;     // of the request that is answered
    std::vector<Cycles> answer_ends_;  // of the latest requests, as a ring
    ResponsePipe pipe_;
    Cycles taken_;   // last beat or padding to leave the pipe
    Cycles packed_;  // last read of the packing
};

}  // namespace npuscope
