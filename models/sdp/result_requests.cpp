// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/result_requests.h"

#include <algorithm>

namespace npuscope {
namespace {

constexpr std::uint64_t tile_lines = 4;  // of two tiles, which arrive one after the other
// From one single-beat request to the next. source: nv_full RTL, simulated
constexpr Cycles request_interval{3};
constexpr std::uint64_t tile_columns = 2;  // source: NV_NVDLA_SDP_WDMA_cmd.v, mode_winog_size_of_*

}  // namespace

void ResultRequests::begin(const SdpJob& job, std::uint32_t lanes) {
    held_ = false;
    free_ = Cycles(0);
    lanes_ = lanes;
    channels_ = job.shape.channels;
    cube_ = job.destination.value_or(FeatureCube{});
    const bool one_pixel = job.shape.width == 1 && job.shape.height == 1;
    order_ = Order::Lines;
    batches_ = job.batches;
    if (job.winograd) {
        order_ = Order::Tiles;
    } else if (job.batches > 1 && !one_pixel) {
        order_ = Order::Batches;
    } else if (bytes_of(job.stages.output) > bytes_of(job.stages.processing) && job.batches == 1 &&
               !one_pixel) {
        order_ = Order::Doubled;
    }
}

std::uint64_t ResultRequests::tile_pixel(std::uint64_t place) const {
    const std::uint64_t width = cube_.shape.width;
    const std::uint64_t in_lines = place % (tile_lines * width);
    const std::uint64_t in_tiles = in_lines % (tile_lines * tile_columns);
    const std::uint64_t y = place / (tile_lines * width) * tile_lines + in_tiles / tile_columns;
    return y * width + in_lines / (tile_lines * tile_columns) * tile_columns + place % tile_columns;
}

std::uint64_t ResultRequests::batch_pixel(std::uint64_t place) const {
    const std::uint64_t width = cube_.shape.width;
    const std::uint64_t in_line = place % (width * batches_);
    const std::uint64_t x = in_line / (std::uint64_t{2} * batches_) * 2;
    const std::uint64_t columns = std::min<std::uint64_t>(2, width - x);
    const std::uint64_t in_turn = in_line - x * batches_;
    const std::uint64_t y = place / (width * batches_);
    const std::uint64_t batch = in_turn / columns;
    return (batch * cube_.shape.height + y) * width + x + in_turn % columns;
}

std::vector<PixelRun> ResultRequests::in_raster(const PixelRun& run) const {
    if (order_ != Order::Tiles && order_ != Order::Batches) {
        return {run};
    }
    std::vector<PixelRun> pieces;
    for (std::uint64_t i = 0; i < run.count; ++i) {
        const std::uint64_t place = run.first + i;
        const std::uint64_t pixel = order_ == Order::Tiles ? tile_pixel(place) : batch_pixel(place);
        const bool second = !pieces.empty() && pieces.back().count == 1 &&
                            pixel == pieces.back().first + 1 && pixel % cube_.shape.width % 2 != 0;
        if (second) {
            pieces.back().count = 2;
            continue;
        }
        PixelRun piece = run;
        piece.first = pixel;
        piece.count = 1;
        piece.leaves = run.leaves + run.interval * i;
        piece.apart = true;
        pieces.push_back(piece);
    }
    return pieces;
}

Cycles ResultRequests::padding() const {
    return order_ == Order::Doubled ? request_interval : Cycles(0);
}

bool ResultRequests::begins_pair(std::uint64_t pixel) const {
    const std::uint64_t width = cube_.shape.width;
    const auto y = static_cast<std::uint32_t>(pixel / width);
    const std::uint64_t atom = cube_.line_address(0, y).value / cube_.atom.value + pixel % width;
    return atom % 2 == 0 && pixel % width + 1 < width;
}

void ResultRequests::add_doubled(const PixelRun& run, std::vector<Request>& requests) {
    for (std::uint64_t i = 0; i < run.count; ++i) {
        const std::uint64_t pixel = run.first + i;
        if (!held_ && begins_pair(pixel)) {
            held_ = true;
            continue;
        }
        PixelRun pair = run;
        pair.count = held_ ? 2 : 1;
        pair.first = pixel + 1 - pair.count;
        pair.interval = Cycles(0);
        pair.apart = true;
        held_ = false;
        const std::vector<PixelRun> parts = surfaces_of(pair);
        Cycles before = run.interval;  // before the atom's end
        for (PixelRun part : parts) {
            before -= Cycles(run.interval.value / parts.size());
            part.leaves = std::max(run.leaves + run.interval * i - before, free_);
            free_ = part.leaves + request_interval;
            requests.push_back({part});
        }
        if (parts.size() == 1) {
            free_ += request_interval;  // the other surface has its turn although it has no data
        }
    }
}

void ResultRequests::add_lines(const PixelRun& run, std::vector<Request>& requests) const {
    const std::uint64_t pixels = std::uint64_t{cube_.shape.width} * cube_.shape.height;
    for (std::uint64_t done = 0; done < run.count;) {
        PixelRun of_batch = run;
        of_batch.first = (run.first + done) % pixels;
        of_batch.count = std::min(run.count - done, pixels - of_batch.first);
        of_batch.leaves = run.leaves + run.interval * done;
        for_each_surface_run(cube_, {channels_, lanes_}, of_batch, [&](const PixelRun& part) {
            requests.push_back({part, (run.first + done) / pixels});
        });
        done += of_batch.count;
    }
}

void ResultRequests::add(const PixelRun& run, std::vector<Request>& requests) {
    if (order_ == Order::Doubled) {
        add_doubled(run, requests);
    } else if (order_ == Order::Lines) {
        add_lines(run, requests);
    } else {
        for (const PixelRun& piece : in_raster(run)) {
            add_lines(piece, requests);
        }
    }
}

}  // namespace npuscope
