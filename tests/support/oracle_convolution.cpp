// SPDX-License-Identifier: Apache-2.0
#include "tests/support/oracle_convolution.h"

#include <algorithm>
#include <stdexcept>

namespace npuscope::oracle {

namespace {

/// Byte of a packed pixel that holds R/Y, G/U, B/V, A/X. source: NVDLA_CDMA.rdl, names read from
/// the most significant byte down
std::array<std::uint32_t, 4> byte_of_channel(std::uint32_t format) {
    switch (format) {
        case 12:  // A8B8G8R8
        case 16:  // X8B8G8R8
            return {0, 1, 2, 3};
        case 13:  // A8R8G8B8
        case 17:  // X8R8G8B8
        case 26:  // A8Y8U8V8
            return {2, 1, 0, 3};
        case 14:  // B8G8R8A8
        case 18:  // B8G8R8X8
        case 27:  // V8U8Y8A8
            return {1, 2, 3, 0};
        case 15:  // R8G8B8A8
        case 19:  // R8G8B8X8
            return {3, 2, 1, 0};
        default:
            throw std::invalid_argument("not an 8-bit pixel format of four channels");
    }
}

std::uint64_t pixel_address(const PixelSurface& p, std::uint32_t c, std::uint32_t y,
                            std::uint32_t x) {
    const std::uint64_t column = std::uint64_t{x} + p.x_offset;
    if (p.format == 0) {  // R8
        return p.base + y * p.line_stride + column;
    }
    if (p.format == 28 || p.format == 29) {  // Y8___U8V8, Y8___V8U8
        if (c == 0) {
            return p.base + y * p.line_stride + column;
        }
        const bool v_first = p.format == 28;
        const std::uint32_t byte = (c == 2) == v_first ? 0 : 1;
        const std::uint64_t pair = std::uint64_t{x} + p.x_offset % (p.atom / 2);
        return p.chroma_base + y * p.chroma_stride + pair * 2 + byte;
    }
    return p.base + y * p.line_stride + column * 4 + byte_of_channel(p.format)[c];
}

std::int64_t convert(std::int64_t code, std::uint32_t channel, const PixelConverter& converter) {
    if (!converter.enabled) {
        return static_cast<std::int64_t>(sign_extend(code, 8));
    }
    const std::int32_t subtracted = converter.mean ? converter.means[channel] : converter.offset;
    const Wide product = (Wide{code} - subtracted) * converter.scale;
    return static_cast<std::int64_t>(
        saturate(shift_right(product, converter.truncate, {34, 17}), 8));
}

struct Place {
    std::uint32_t k, y, x;
};

/// An input value, or the padding's outside.
std::int64_t data_at(const Cube& input, const Window& window, std::uint32_t c, std::int64_t y,
                     std::int64_t x) {
    const bool inside = y >= 0 && y < input.height && x >= 0 && x < input.width;
    return inside ? input.at(c, static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x))
                  : window.pad_value;
}

std::int64_t sum_of_products(const Cube& input, const Cube& weights, const KernelShape& kernel,
                             const Window& window, Place out) {
    const std::int64_t top = std::int64_t{out.y} * window.stride_y - window.pad_top;
    const std::int64_t left = std::int64_t{out.x} * window.stride_x - window.pad_left;
    const std::uint32_t first = out.k * kernel.channels;
    std::int64_t sum = 0;
    for (std::uint32_t r = 0; r < weights.height; ++r) {
        const std::int64_t y = top + std::int64_t{r} * window.dilation_y;
        for (std::uint32_t s = 0; s < kernel.columns; ++s) {
            const std::int64_t x = left + std::int64_t{s} * window.dilation_x;
            for (std::uint32_t c = 0; c < kernel.channels; ++c) {
                sum += data_at(input, window, c, y, x) * weights.at(first + c, r, s);
            }
        }
    }
    return sum;
}

/// Weights as (kernel * channels + channel, row, column), whatever their order in memory.
Cube read_weights(const WeightSurface& w, const KernelShape& kernel, const Memory& memory) {
    Cube result(w.kernels * kernel.channels, w.rows, kernel.columns);
    const bool folded = w.channels != kernel.channels;
    for_each_element(result, [&](std::uint32_t i, std::uint32_t r, std::uint32_t s) {
        const std::uint32_t k = i / kernel.channels;
        const std::uint32_t c = i % kernel.channels;
        const std::uint64_t address =
            folded ? w.address(k, s * kernel.channels + c, r, 0) : w.address(k, c, r, s);
        result.at(i, r, s) = memory.read_signed(address, 1);
    });
    return result;
}

}  // namespace

std::uint64_t WeightSurface::address(std::uint32_t k, std::uint32_t c, std::uint32_t r,
                                     std::uint32_t s) const {
    const std::uint64_t taps = std::uint64_t{rows} * columns;
    const std::uint64_t first = std::uint64_t{k} / group * group;
    const std::uint64_t kernels_here = std::min<std::uint64_t>(group, kernels - first);
    const std::uint64_t start = base + first * channels * taps;
    if (row_group > 1) {
        const std::uint64_t row = std::uint64_t{r} / row_group * row_group;
        const std::uint64_t rows_here = std::min<std::uint64_t>(row_group, rows - row);
        return start + (row * kernels_here + k % group * rows_here + r % row_group) * channels + c;
    }
    const std::uint64_t cube = std::uint64_t{c} / depth * depth;
    const std::uint64_t channels_here = std::min<std::uint64_t>(depth, channels - cube);
    return start + cube * taps * kernels_here +
           ((std::uint64_t{r} * columns + s) * kernels_here + k % group) * channels_here +
           c % depth;
}

Cube convolve(const Cube& input, const WeightSurface& weights, const KernelShape& kernel,
              const Window& window, const Accumulator& out, const Memory& memory) {
    const Cube values = read_weights(weights, kernel, memory);
    Cube result(round_up(weights.kernels, out.atom), out.height, out.width);
    for_each_element(result, [&](std::uint32_t k, std::uint32_t y, std::uint32_t x) {
        if (k < weights.kernels) {
            const Wide sum = sum_of_products(input, values, kernel, window, {k, y, x});
            result.at(k, y, x) =
                static_cast<std::int64_t>(shift_right(sum, out.truncate, {48, 32}));
        }
    });
    return result;
}

std::uint32_t PixelSurface::channels() const {
    if (format == 0) {
        return 1;
    }
    return format == 28 || format == 29 ? 3 : 4;
}

Cube read_pixels(const PixelSurface& pixels, const PixelConverter& converter,
                 const Memory& memory) {
    Cube cube(pixels.channels(), pixels.height, pixels.width);
    for_each_element(cube, [&](std::uint32_t c, std::uint32_t y, std::uint32_t x) {
        const std::uint8_t byte = memory.read(pixel_address(pixels, c, y, x));
        const std::int64_t code =
            pixels.sign_override ? static_cast<std::int8_t>(byte) : std::int64_t{byte};
        cube.at(c, y, x) = convert(code, c, converter);
    });
    return cube;
}

}  // namespace npuscope::oracle
