// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "models/arith/convolve.h"
#include "models/arith/fp16_mac.h"
#include "models/base/check.h"

namespace npuscope {

MacBlocks::MacBlocks(const KernelShape& kernel, const MacOrder& order) {
    NPU_CHECK(order.block_channels > 0 && order.row_group > 0, "a block has a size");
    elements_.reserve(std::size_t{kernel.channels} * kernel.rows * kernel.columns);
    if (order.columns_are_channels) {
        add_image(kernel, order);
    } else {
        add_direct(kernel, order);
    }
}

void MacBlocks::add_direct(const KernelShape& kernel, const MacOrder& order) {
    for (std::uint32_t first = 0; first < kernel.channels; first += order.block_channels) {
        const std::uint32_t last = std::min(kernel.channels, first + order.block_channels);
        for (std::uint32_t r = 0; r < kernel.rows; ++r) {
            for (std::uint32_t s = 0; s < kernel.columns; ++s) {
                for (std::uint32_t c = first; c < last; ++c) {
                    elements_.push_back({c, r, s});
                }
                ends_.push_back(elements_.size());
            }
        }
    }
}

void MacBlocks::add_image(const KernelShape& kernel, const MacOrder& order) {
    const std::uint32_t channels = kernel.channels * kernel.columns;
    for (std::uint32_t first = 0; first < channels; first += order.block_channels) {
        const std::uint32_t last = std::min(channels, first + order.block_channels);
        for (std::uint32_t row = 0; row < kernel.rows; row += order.row_group) {
            const std::uint32_t row_end = std::min(kernel.rows, row + order.row_group);
            for (std::uint32_t r = row; r < row_end; ++r) {
                for (std::uint32_t c = first; c < last; ++c) {
                    elements_.push_back({c % kernel.channels, r, c / kernel.channels});
                }
            }
            ends_.push_back(elements_.size());
        }
    }
}

namespace {

/// The padded input as far as the outputs need it, [c][y][x].
template <class T, class Convert>
Tensor<T> padded(const Tensor<std::int16_t>& data, const KernelShape& kernels,
                 const Convolution& geometry, Convert convert) {
    const std::uint32_t rows = reach(geometry.out_height, geometry.stride_y,
                                     dilated_span(kernels.rows, geometry.dilation_y));
    const std::uint32_t columns = reach(geometry.out_width, geometry.stride_x,
                                        dilated_span(kernels.columns, geometry.dilation_x));
    const auto pad = convert(static_cast<Fp16>(geometry.pad_value));
    Tensor<T> result({data.shape.channels, rows, columns}, pad);
    const std::uint32_t end_y = std::min(rows, geometry.pad_top + data.shape.height);
    const std::uint32_t end_x = std::min(columns, geometry.pad_left + data.shape.width);
    for (std::uint32_t c = 0; c < data.shape.channels; ++c) {
        for (std::uint32_t y = geometry.pad_top; y < end_y; ++y) {
            for (std::uint32_t x = geometry.pad_left; x < end_x; ++x) {
                result.at(c, y, x) = convert(
                    static_cast<Fp16>(data.at(c, y - geometry.pad_top, x - geometry.pad_left)));
            }
        }
    }
    return result;
}

/// Offsets from a window's first element to each of its elements, in a tensor of this shape.
std::vector<std::size_t> element_offsets(const MacBlocks& blocks, const Convolution& geometry,
                                         const Shape& shape) {
    std::vector<std::size_t> offsets;
    offsets.reserve(blocks.elements().size());
    for (const MacElement& element : blocks.elements()) {
        const std::size_t row = std::size_t{element.channel} * shape.height +
                                std::size_t{element.row} * geometry.dilation_y;
        offsets.push_back(row * shape.width + std::size_t{element.column} * geometry.dilation_x);
    }
    return offsets;
}

/// The kernels' values in the order of the blocks.
std::vector<Fp16> ordered_weights(const MacBlocks& blocks, const Kernels<std::int16_t>& kernels) {
    std::vector<Fp16> weights;
    weights.reserve(kernels.values.size());
    for (std::uint32_t k = 0; k < kernels.shape.kernels; ++k) {
        for (const MacElement& element : blocks.elements()) {
            weights.push_back(
                static_cast<Fp16>(kernels.at(k, element.channel, element.row, element.column)));
        }
    }
    return weights;
}

}  // namespace

Tensor<std::int32_t> convolve_fp16_plain(const Tensor<std::int16_t>& data,
                                         const Kernels<std::int16_t>& kernels,
                                         const Convolution& geometry, const MacOrder& order) {
    const MacBlocks blocks(kernels.shape, order);
    const auto input = padded<Fp16>(data, kernels.shape, geometry, [](Fp16 x) { return x; });
    const std::vector<std::size_t> offsets = element_offsets(blocks, geometry, input.shape);
    const std::vector<Fp16> weights = ordered_weights(blocks, kernels);
    Tensor<std::int32_t> result({kernels.shape.kernels, geometry.out_height, geometry.out_width});
    std::vector<Fp16> window(offsets.size());
    for (std::uint32_t y = 0; y < geometry.out_height; ++y) {
        for (std::uint32_t x = 0; x < geometry.out_width; ++x) {
            const Fp16* corner = &input.at(0, y * geometry.stride_y, x * geometry.stride_x);
            std::ranges::transform(offsets, window.begin(),
                                   [&](std::size_t offset) { return corner[offset]; });
            for (std::uint32_t k = 0; k < kernels.shape.kernels; ++k) {
                Fp16Accumulator sum;
                for (std::size_t b = 0; b < blocks.size(); ++b) {
                    const std::size_t first = blocks.first_of(b);
                    const std::size_t count = blocks.block(b).size();
                    sum.add(fp16_block_sum(
                        std::span(window).subspan(first, count),
                        std::span(weights).subspan(k * offsets.size() + first, count)));
                }
                result.at(k, y, x) = static_cast<std::int32_t>(sum.fp32_bits());
            }
        }
    }
    return result;
}

Tensor<std::int32_t> convolve_fp16(const Tensor<std::int16_t>& data,
                                   const Kernels<std::int16_t>& kernels,
                                   const Convolution& geometry, const MacOrder& order) {
    NPU_CHECK(data.shape.channels == kernels.shape.channels, "data and kernels differ in channels");
    const MacBlocks blocks(kernels.shape, order);
    const auto input = padded<std::uint32_t>(data, kernels.shape, geometry, pack_fp16);
    const std::vector<std::size_t> offsets = element_offsets(blocks, geometry, input.shape);
    Tensor<std::int32_t> result({kernels.shape.kernels, geometry.out_height, geometry.out_width});
    Fp16Columns columns;
    columns.positions = std::size_t{geometry.out_height} * geometry.out_width;
    columns.kernels = kernels.shape.kernels;
    columns.weights = ordered_weights(blocks, kernels);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        columns.block_ends.push_back(blocks.first_of(b) + blocks.block(b).size());
    }
    columns.gather = [&](std::size_t first, std::uint32_t* to) {
        std::array<const std::uint32_t*, fp16_lanes> corners{};
        for (std::size_t lane = 0; lane < fp16_lanes; ++lane) {
            const std::size_t position = std::min(first + lane, columns.positions - 1);
            const auto y = static_cast<std::uint32_t>(position / geometry.out_width);
            const auto x = static_cast<std::uint32_t>(position % geometry.out_width);
            corners[lane] = &input.at(0, y * geometry.stride_y, x * geometry.stride_x);
        }
        for (const std::size_t offset : offsets) {
            for (const std::uint32_t* corner : corners) {
                *to++ = corner[offset];
            }
        }
    };
    Fp16Outputs outputs;
    outputs.store = [&](std::uint32_t kernel, std::size_t position, std::uint32_t /*result*/,
                        std::uint32_t bits) {
        result.values[kernel * columns.positions + position] = static_cast<std::int32_t>(bits);
    };
    convolve_fp16_columns(columns, outputs);
    return result;
}

}  // namespace npuscope
