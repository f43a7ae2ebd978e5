// SPDX-License-Identifier: Apache-2.0
#include "models/conv/csc_math.h"

#include <algorithm>
#include <utility>

#include "models/base/check.h"
#include "models/layout/alignment.h"

namespace npuscope {

WeightKernels sequenced_kernels(const ConvJob& job, const WeightKernels& stored) {
    return std::visit(
        [&job](const auto& kernels) -> WeightKernels {
            KernelShape all = kernels.shape;  // of a group, or of all
            all.kernels = job.weights.shape.kernels;
            NPU_CHECK(all == job.weights.shape, "the kernels are not those of the job");
            return job.mode() == ConvMode::Image ? restore_columns(kernels, job.kernels.channels)
                                                 : kernels;
        },
        stored);
}

std::uint64_t useful_macs(const ConvJob& job) {
    const std::uint64_t outputs =
        std::uint64_t{job.output().height} * job.output().width * job.batches();
    const std::uint64_t products = outputs * job.kernels.elements();
    // a transformed kernel has 16 weights in place of nine
    return job.mode() == ConvMode::Winograd ? products * 9 / 16 : products;
}

double macs_per_cell(ConvMode mode) {
    // 16 products of a patch yield four outputs of nine weights each
    return mode == ConvMode::Winograd ? 4 * 9 / 16.0 : 1;
}

std::vector<std::uint32_t> ImageWalk::reaches(std::uint32_t length) const {
    const std::uint32_t last = bytes_of(blocks() - 1);
    const std::uint32_t counted = miscounts && last == 1 ? blocks() - 1 : blocks();
    std::vector<std::uint32_t> result{bytes_of(0) - 1};
    for (std::uint32_t block = 0; block + 1 < blocks(); ++block) {
        const std::uint32_t passed = miscounts && length == 1 ? shortest * block : block;
        const bool next_is_last = passed + 2 >= counted;
        result.push_back(result.back() + (next_is_last ? last : width));
    }
    return result;
}

std::optional<std::uint32_t> met_byte(const ImageWalk& walk, std::uint32_t block,
                                      std::uint32_t reach, std::uint32_t output,
                                      std::uint32_t lane) {
    const std::uint32_t entry = reach / walk.width * walk.width;
    if (output == 0) {  // a stripe begins with the first byte of an entry
        return entry + lane;
    }
    const std::uint32_t end = reach + output * walk.step;
    if (walk.step > walk.width) {  // each output reads its own entries
        return end + 1 - walk.bytes_of(block) + lane;
    }
    // each uses the rest of the previous entry, and one more if its end lies beyond it
    const std::uint32_t byte = entry + output * walk.step + lane;
    return byte / walk.width <= end / walk.width ? std::optional(byte) : std::nullopt;
}

std::optional<std::uint32_t> first_wrong_block(const ImageWalk& walk, std::uint32_t length) {
    const std::vector<std::uint32_t> reaches = walk.reaches(length);
    for (std::uint32_t block = 0; block < walk.blocks(); ++block) {
        for (std::uint32_t output = 0; output < length; ++output) {
            for (std::uint32_t lane = 0; lane < walk.bytes_of(block); ++lane) {
                const std::uint32_t right = output * walk.step + block * walk.width + lane;
                if (met_byte(walk, block, reaches[block], output, lane) != right) {
                    return block;
                }
            }
        }
    }
    return std::nullopt;
}

std::optional<Miscount> find_miscount(const ImageWalk& walk, const ImageRow& row) {
    if (!walk.miscounts) {
        return std::nullopt;
    }
    // all stripes but the last one are alike
    const std::uint32_t last = (row.outputs - 1) / row.stripe * row.stripe;
    for (const std::uint32_t column : {std::uint32_t{0}, last}) {
        if (const auto block = first_wrong_block(walk, row.length_at(column))) {
            return Miscount{*block, column};
        }
    }
    return std::nullopt;
}

std::uint32_t columns_to_add(ImageWalk walk, const ImageRow& row, std::uint32_t channels) {
    std::uint32_t columns = 0;
    while (find_miscount(walk, row)) {  // ends at a multiple of the width
        walk.row_bytes += channels;
        ++columns;
    }
    return columns;
}

std::uint32_t loading_cycles(const ConvJob& job, const DatapathConfig& datapath, Bytes entry) {
    // an entry of the buffer holds the weights that several cells load in one cycle
    const Bytes cube = job.weights.element * datapath.atomic_c;
    return static_cast<std::uint32_t>(
        divide_up(cube.value * job.weights.group_kernels, entry.value));
}

std::uint32_t reading_cycles(const ConvJob& job, const DatapathConfig& datapath, Bytes entry) {
    const std::uint64_t channels =
        std::min(std::uint64_t{datapath.atomic_c}, std::uint64_t{job.weights.shape.channels});
    const std::uint64_t used = job.mode() == ConvMode::Winograd ? datapath.atomic_c : channels;
    return static_cast<std::uint32_t>(
        divide_up(std::max<std::uint64_t>(used, 1) * bytes_of(job.precision()), entry.value));
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
    image.row = {job.output().width, config.image_stripe_groups * cells};
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
    const std::uint32_t left = job.parts.cdma.pad_left;
    // of one line of pixels, as the buffer holds them after the DMA's padding
    const auto byte_of_line = [&](std::uint32_t y, std::uint32_t byte) {
        const std::uint32_t channels = data.shape.channels;
        const std::uint32_t column = byte / channels;
        const bool inside = column >= left && column - left < data.shape.width;
        return inside ? data.at(byte % channels, y, column - left)
                      : static_cast<std::int8_t>(job.convolution.pad_value);
    };
    Tensor<std::int8_t> met({walk.row_bytes, data.shape.height, row.outputs});
    for (std::uint32_t column = 0; column < row.outputs; column += row.stripe) {
        const std::uint32_t length = row.length_at(column);
        const std::vector<std::uint32_t> reaches = walk.reaches(length);
        for (std::uint32_t c = 0; c < walk.row_bytes; ++c) {
            const std::uint32_t block = c / walk.width;
            for (std::uint32_t output = 0; output < length; ++output) {
                const auto byte = met_byte(walk, block, reaches[block], output, c % walk.width);
                for (std::uint32_t y = 0; y < data.shape.height && byte; ++y) {
                    met.at(c, y, column + output) = byte_of_line(y, column * walk.step + *byte);
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
