// SPDX-License-Identifier: Apache-2.0
// When pixels are requested, and when the packed lines are in the convolution buffer. Requests:
// line by line, plane by plane, pieces of at most eight beats. Packing starts behind the first full
// request and takes a cycle for each entry of a line, or waits for the line's last beat. Source:
// nv_small RTL, measured; within three cycles on the measured rows. Two planes are not measured.
#pragma once

#include "models/conv/cdma_data_timing.h"
#include "models/layout/pixel_format.h"

namespace npuscope {

struct ImageFetch {
    PixelSurface pixels;
    std::uint32_t pad_left = 0;             ///< pixels
    std::uint64_t packed_line_entries = 1;  ///< with the padding, as the packing takes them
    std::uint64_t entries_per_line = 1;     ///< as the buffer counts them
    Bytes beat{8};
    Cycles start{};
    FetchRoom room{};
};

class ImageStream : public DataStream {
 public:
    ImageStream(const CdmaConfig& config, const ImageFetch& fetch);

    std::uint64_t beats() const override { return line_beats_ * fetch_.pixels.height; }
    std::optional<ReadBurst> next_burst() override;
    void arrived(std::span<const Cycles> times) override;

 private:
    ByteRun run() const;
    void finish_line(Cycles last_beat);

    const CdmaConfig config_;
    ImageFetch fetch_;
    std::uint64_t line_beats_ = 0;  // of all planes
    Cycles line_tail_;
    Cycles time_;
    PixelLine position_{};
    std::uint64_t beats_left_ = 0;  // of the line of one plane
    std::uint64_t arrived_ = 0;
    Cycles packed_;  // end of the last line that was packed
};

}  // namespace npuscope
