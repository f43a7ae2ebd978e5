// SPDX-License-Identifier: Apache-2.0
#include "models/conv/image_math.h"

#include "models/layout/alignment.h"

namespace npuscope {
namespace {

/// Bytes of one line of pixels, as the buffer holds them after the DMA's padding.
class LineBytes {
 public:
    LineBytes(const Tensor<std::int8_t>& data, const ConvJob& job, std::uint32_t line)
        : data_(data),
          line_(line),
          left_(job.parts.cdma.pad_left),
          pad_(static_cast<std::int8_t>(job.convolution.pad_value)) {}

    std::int8_t at(std::uint32_t byte) const {
        const std::uint32_t channels = data_.shape.channels;
        const std::uint32_t column = byte / channels;
        const bool inside = column >= left_ && column - left_ < data_.shape.width;
        return inside ? data_.at(byte % channels, line_, column - left_) : pad_;
    }

 private:
    const Tensor<std::int8_t>& data_;
    std::uint32_t line_;
    std::uint32_t left_;
    std::int8_t pad_;
};

}  // namespace

std::uint32_t loading_cycles(const ConvJob& job, const DatapathConfig& datapath, Bytes entry) {
    // an entry of the buffer holds the weights of so many cells, loaded in one cycle
    const Bytes cube = job.weights.element * datapath.atomic_c;
    return static_cast<std::uint32_t>(
        divide_up(cube.value * job.weights.group_kernels, entry.value));
}

std::optional<MiscountedImage> miscounted_image(const ConvJob& job, const CscConfig& config,
                                                const DatapathConfig& datapath, Bytes entry) {
    if (!config.miscounts_image_blocks || job.mode() != ConvMode::Image ||
        job.weights.row_group != 1 || job.precision() != Precision::Int8) {
        return std::nullopt;
    }
    const std::uint32_t cells = loading_cycles(job, datapath, entry);
    MiscountedImage image;
    image.walk = {.row_bytes = job.weights.shape.channels,
                  .step = job.parts.csc.stride_x * job.input().channels,
                  .width = datapath.atomic_c,
                  .shortest = cells,
                  .miscounts = true};
    image.row = {job.output().width, config.stripe_groups * cells};
    const std::optional<Miscount> first = find_miscount(image.walk, image.row);
    if (!first) {
        return std::nullopt;
    }
    image.first = *first;
    return image;
}

Tensor<std::int8_t> met_pixels(const Tensor<std::int8_t>& data, const ConvJob& job,
                               const MiscountedImage& image) {
    const auto& [walk, row, first] = image;
    Tensor<std::int8_t> met({walk.row_bytes, data.shape.height, row.outputs});
    for (std::uint32_t column = 0; column < row.outputs; column += row.stripe) {
        const std::uint32_t length = row.length_at(column);
        const std::vector<std::uint32_t> reaches = walk.reaches(length);
        for (std::uint32_t c = 0; c < walk.row_bytes; ++c) {
            const std::uint32_t block = c / walk.width;
            for (std::uint32_t output = 0; output < length; ++output) {
                const auto byte = met_byte(walk, block, reaches[block], output, c % walk.width);
                for (std::uint32_t y = 0; y < data.shape.height && byte; ++y) {
                    met.at(c, y, column + output) =
                        LineBytes(data, job, y).at(column * walk.step + *byte);
                }
            }
        }
    }
    return met;
}

Convolution met_geometry(const ConvJob& job) {
    Convolution geometry = job.convolution;
    geometry.stride_x = 1;
    geometry.pad_left = 0;
    return geometry;
}

}  // namespace npuscope
