// SPDX-License-Identifier: Apache-2.0
// Plain convolution: feature or pixel input, weights from memory, six nested loops.
// Weights in memory, outermost first: kernel group, channel cube, row, column, kernel, channel; the
// last group and the last cube are shorter. Pixel weights: one column, channel = column * C + c;
// with post-extension: kernel group, row group, kernel, row, channel.
// Does not model the 34-bit limit of a partial sum: no layer here comes near it.
// source: NVDLA format page; NVDLA unit description, CACC
#pragma once

#include <array>
#include <cstdint>

#include "tests/support/oracle_memory.h"

namespace npuscope::oracle {

struct WeightSurface {
    std::uint64_t base = 0;
    std::uint32_t kernels = 1;
    std::uint32_t channels = 1;  ///< of one weight cube; columns * image channels for pixels
    std::uint32_t rows = 1;
    std::uint32_t columns = 1;  ///< 1 for pixels
    std::uint32_t group = 8;    ///< kernels of a group: atomic_k
    std::uint32_t depth = 8;    ///< channels of a cube: atomic_c
    std::uint32_t row_group = 1;

    std::uint64_t address(std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t s) const;
    std::uint64_t bytes() const { return std::uint64_t{kernels} * channels * rows * columns; }
};

struct Window {
    std::uint32_t stride_x = 1;
    std::uint32_t stride_y = 1;
    std::uint32_t dilation_x = 1;
    std::uint32_t dilation_y = 1;
    std::uint32_t pad_left = 0;
    std::uint32_t pad_top = 0;
    std::int32_t pad_value = 0;
};

/// Sums after the truncating shift; lanes are the kernels rounded up to `atom`, pad lanes are 0.
struct Accumulator {
    std::uint32_t width = 1;
    std::uint32_t height = 1;
    std::uint32_t truncate = 0;
    std::uint32_t atom = 8;
};

/// `channels` of the weights are used, `columns` is the true width of a kernel.
struct KernelShape {
    std::uint32_t channels = 1;
    std::uint32_t columns = 1;
};

Cube convolve(const Cube& input, const WeightSurface& weights, const KernelShape& kernel,
              const Window& window, const Accumulator& out, const Memory& memory);

/// Pixels in memory: one plane of 1 or 4 bytes a pixel, or Y and a plane of two chroma bytes.
struct PixelSurface {
    std::uint32_t format = 0;  ///< D_DATAIN_FORMAT.PIXEL_FORMAT
    bool sign_override = false;
    std::uint64_t base = 0;
    std::uint64_t chroma_base = 0;
    std::uint64_t line_stride = 0;
    std::uint64_t chroma_stride = 0;
    std::uint32_t x_offset = 0;  ///< in pixels; the chroma plane skips it modulo one atom
    std::uint32_t atom = 8;
    std::uint32_t width = 1;
    std::uint32_t height = 1;
    std::uint32_t channels() const;
};

/// (x - mean or offset) * scale >> shift; without it the bytes are read as int8.
struct PixelConverter {
    bool enabled = false;
    bool mean = false;
    std::array<std::int32_t, 4> means{};
    std::int32_t offset = 0;
    std::int32_t scale = 1;
    std::uint32_t truncate = 0;
};

Cube read_pixels(const PixelSurface& pixels, const PixelConverter& converter, const Memory& memory);

}  // namespace npuscope::oracle
