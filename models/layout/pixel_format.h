// SPDX-License-Identifier: Apache-2.0
// Pixel formats of the image input, one row each, and the pixel surface in memory.
//
//     highest bits first in names:        T_A8B8G8R8 = bytes | R | G | B | A |
//     packed 10 bits, one 32-bit word:    T_A2B10G10R10 = | A 31:30 | B 29:20 | G 19:10 | R 9:0 |
//     semi-planar, T_Y8___U8V8:           plane 0 | Y | Y | ...    plane 1 | V | U | V | U | ...
//
// Channels are output in the order R/Y, G/U, B/V, A/X whatever the format. Elements are raw codes:
// 10-bit fields are shifted left by 6 (their 2-bit alpha by 14) to form 16-bit codes, plain 10- and
// 12-bit words are used unchanged. Whether a code is signed is a register's choice, not the
// format's.
// source: NVDLA format page, table 33; codes: NVDLA_CDMA.rdl; byte orders: nv_full C model, runs
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "models/layout/feature_cube.h"
#include "models/layout/tensor.h"

namespace npuscope {

struct PixelFormat {
    std::string_view name;
    std::uint8_t code;        ///< D_DATAIN_FORMAT.PIXEL_FORMAT
    std::uint8_t channels;    ///< 1, 3 or 4
    std::uint8_t planes;      ///< 2: semi-planar, a Y plane and then two chroma channels
    std::uint8_t code_bits;   ///< 8 or 16: width of an output element
    std::uint8_t field_bits;  ///< bits of a component in memory; 10 with packed = one 32-bit word
    bool packed_word;         ///< components share one 32-bit word (10, 10, 10 and 2 bits)
    bool floating;            ///< fp16
    /// Channel (0 = R/Y, 1 = G/U, 2 = B/V, 3 = A/X) of each component, lowest address or least
    /// significant bit first; plane 0 before plane 1.
    std::array<std::uint8_t, 4> order;

    std::uint32_t components(std::uint32_t plane) const {
        return planes == 2 ? plane + 1U : channels;
    }
    /// Bytes of one pixel in a plane.
    Bytes pixel_bytes(std::uint32_t plane) const;
};

std::span<const PixelFormat> pixel_formats();
/// Nothing for a code without a format.
const PixelFormat* find_pixel_format(std::uint32_t code);
const PixelFormat* find_pixel_format(std::string_view name);

/// One line of one plane.
struct PixelLine {
    std::uint32_t plane = 0;
    std::uint32_t y = 0;
};

/// Pitch-linear pixels. The first pixel of a line is x_offset pixels after the line's start.
struct PixelSurface {
    const PixelFormat* format = nullptr;
    std::array<Address, 2> base{};
    std::array<Bytes, 2> line_stride{};
    std::uint32_t x_offset = 0;
    Bytes atom{8};  ///< reads start at multiples of it; plane 1 skips x_offset modulo one atom
    std::uint32_t height = 0;
    std::uint32_t width = 0;

    bool operator==(const PixelSurface&) const = default;

    Shape shape() const { return {format == nullptr ? 0U : format->channels, height, width}; }
    /// Bytes in front of the first pixel of a line.
    Bytes skipped(std::uint32_t plane) const;
    /// The pixels of one line, without what is skipped.
    ByteRun line(PixelLine line) const;
    std::vector<ByteRun> runs() const;
};

/// Unpacks the pixels of one line of one plane as raw codes, `bytes` starting where surface.line()
/// does, into a tensor of shape surface.shape().
void unpack_pixels(const PixelSurface& surface, PixelLine line, std::span<const std::uint8_t> bytes,
                   Tensor<std::uint16_t>& codes);

}  // namespace npuscope
