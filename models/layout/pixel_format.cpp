// SPDX-License-Identifier: Apache-2.0
#include "models/layout/pixel_format.h"

#include <algorithm>

#include "models/base/check.h"

namespace npuscope {

namespace {

// name, code, channels, planes, code bits, field bits, packed word, floating, order
// source: NVDLA_CDMA.rdl (codes); NVDLA format page, table 33 (planes, channels)
constexpr std::array formats{
    PixelFormat{"T_R8", 0, 1, 1, 8, 8, false, false, {0, 0, 0, 0}},
    PixelFormat{"T_R10", 1, 1, 1, 16, 16, false, false, {0, 0, 0, 0}},
    PixelFormat{"T_R12", 2, 1, 1, 16, 16, false, false, {0, 0, 0, 0}},
    PixelFormat{"T_R16", 3, 1, 1, 16, 16, false, false, {0, 0, 0, 0}},
    PixelFormat{"T_R16_I", 4, 1, 1, 16, 16, false, false, {0, 0, 0, 0}},
    PixelFormat{"T_R16_F", 5, 1, 1, 16, 16, false, true, {0, 0, 0, 0}},
    PixelFormat{"T_A16B16G16R16", 6, 4, 1, 16, 16, false, false, {0, 1, 2, 3}},
    PixelFormat{"T_X16B16G16R16", 7, 4, 1, 16, 16, false, false, {0, 1, 2, 3}},
    PixelFormat{"T_A16B16G16R16_F", 8, 4, 1, 16, 16, false, true, {0, 1, 2, 3}},
    PixelFormat{"T_A16Y16U16V16", 9, 4, 1, 16, 16, false, false, {2, 1, 0, 3}},
    PixelFormat{"T_V16U16Y16A16", 10, 4, 1, 16, 16, false, false, {3, 0, 1, 2}},
    PixelFormat{"T_A16Y16U16V16_F", 11, 4, 1, 16, 16, false, true, {2, 1, 0, 3}},
    PixelFormat{"T_A8B8G8R8", 12, 4, 1, 8, 8, false, false, {0, 1, 2, 3}},
    PixelFormat{"T_A8R8G8B8", 13, 4, 1, 8, 8, false, false, {2, 1, 0, 3}},
    PixelFormat{"T_B8G8R8A8", 14, 4, 1, 8, 8, false, false, {3, 0, 1, 2}},
    PixelFormat{"T_R8G8B8A8", 15, 4, 1, 8, 8, false, false, {3, 2, 1, 0}},
    PixelFormat{"T_X8B8G8R8", 16, 4, 1, 8, 8, false, false, {0, 1, 2, 3}},
    PixelFormat{"T_X8R8G8B8", 17, 4, 1, 8, 8, false, false, {2, 1, 0, 3}},
    PixelFormat{"T_B8G8R8X8", 18, 4, 1, 8, 8, false, false, {3, 0, 1, 2}},
    PixelFormat{"T_R8G8B8X8", 19, 4, 1, 8, 8, false, false, {3, 2, 1, 0}},
    PixelFormat{"T_A2B10G10R10", 20, 4, 1, 16, 10, true, false, {0, 1, 2, 3}},
    PixelFormat{"T_A2R10G10B10", 21, 4, 1, 16, 10, true, false, {2, 1, 0, 3}},
    PixelFormat{"T_B10G10R10A2", 22, 4, 1, 16, 10, true, false, {3, 0, 1, 2}},
    PixelFormat{"T_R10G10B10A2", 23, 4, 1, 16, 10, true, false, {3, 2, 1, 0}},
    PixelFormat{"T_A2Y10U10V10", 24, 4, 1, 16, 10, true, false, {2, 1, 0, 3}},
    PixelFormat{"T_V10U10Y10A2", 25, 4, 1, 16, 10, true, false, {3, 0, 1, 2}},
    PixelFormat{"T_A8Y8U8V8", 26, 4, 1, 8, 8, false, false, {2, 1, 0, 3}},
    PixelFormat{"T_V8U8Y8A8", 27, 4, 1, 8, 8, false, false, {3, 0, 1, 2}},
    PixelFormat{"T_Y8___U8V8_N444", 28, 3, 2, 8, 8, false, false, {0, 2, 1, 0}},
    PixelFormat{"T_Y8___V8U8_N444", 29, 3, 2, 8, 8, false, false, {0, 1, 2, 0}},
    PixelFormat{"T_Y10___U10V10_N444", 30, 3, 2, 16, 16, false, false, {0, 2, 1, 0}},
    PixelFormat{"T_Y10___V10U10_N444", 31, 3, 2, 16, 16, false, false, {0, 1, 2, 0}},
    PixelFormat{"T_Y12___U12V12_N444", 32, 3, 2, 16, 16, false, false, {0, 2, 1, 0}},
    PixelFormat{"T_Y12___V12U12_N444", 33, 3, 2, 16, 16, false, false, {0, 1, 2, 0}},
    PixelFormat{"T_Y16___U16V16_N444", 34, 3, 2, 16, 16, false, false, {0, 2, 1, 0}},
    PixelFormat{"T_Y16___V16U16_N444", 35, 3, 2, 16, 16, false, false, {0, 1, 2, 0}},
};

std::uint16_t read_code(const std::uint8_t* from, std::size_t bytes) {
    return static_cast<std::uint16_t>(bytes == 1 ? from[0] : from[0] | from[1] << 8);
}

/// Component i of a word of three 10-bit fields and one of 2 bits, least significant first.
std::uint16_t read_packed(const std::uint8_t* from, const PixelFormat& format, std::uint32_t i) {
    const std::uint32_t word =
        static_cast<std::uint32_t>(from[0]) | static_cast<std::uint32_t>(from[1]) << 8U |
        static_cast<std::uint32_t>(from[2]) << 16U | static_cast<std::uint32_t>(from[3]) << 24U;
    const bool alpha_first = format.order[0] == 3;
    const bool alpha = format.order[i] == 3;
    const std::uint32_t lsb = alpha_first ? (alpha ? 0U : 10U * i - 8U) : 10U * i;
    return alpha ? static_cast<std::uint16_t>((word >> lsb & 0x3U) << 14U)
                 : static_cast<std::uint16_t>((word >> lsb & 0x3FFU) << 6U);
}

}  // namespace

Bytes PixelFormat::pixel_bytes(std::uint32_t plane) const {
    return packed_word ? Bytes(4) : Bytes(field_bits / 8U) * components(plane);
}

std::span<const PixelFormat> pixel_formats() { return formats; }

const PixelFormat* find_pixel_format(std::uint32_t code) {
    const auto found = std::ranges::find(formats, code, &PixelFormat::code);
    return found == formats.end() ? nullptr : &*found;
}

const PixelFormat* find_pixel_format(std::string_view name) {
    const auto found = std::ranges::find(formats, name, &PixelFormat::name);
    return found == formats.end() ? nullptr : &*found;
}

Bytes PixelSurface::skipped(std::uint32_t plane) const {
    const Bytes all = format->pixel_bytes(plane) * x_offset;
    return plane == 0 ? all : Bytes(all.value % atom.value);
}

ByteRun PixelSurface::line(PixelLine line) const {
    const Address start = base[line.plane] + line_stride[line.plane] * line.y;
    return {start + skipped(line.plane), format->pixel_bytes(line.plane) * width};
}

std::vector<ByteRun> PixelSurface::runs() const {
    std::vector<ByteRun> found;
    for (std::uint32_t plane = 0; plane < format->planes; ++plane) {
        for (std::uint32_t y = 0; y < height; ++y) {
            found.push_back(line({plane, y}));
        }
    }
    return found;
}

void unpack_pixels(const PixelSurface& surface, PixelLine line, std::span<const std::uint8_t> bytes,
                   Tensor<std::uint16_t>& codes) {
    NPU_CHECK(codes.shape == surface.shape(), "tensor and pixel surface differ in shape");
    NPU_CHECK(bytes.size() >= surface.line(line).bytes.value, "a line needs all its pixels");
    const PixelFormat& format = *surface.format;
    const std::size_t pixel = format.pixel_bytes(line.plane).value;
    const std::size_t component = format.code_bits / 8U;
    for (std::uint32_t i = 0; i < format.components(line.plane); ++i) {
        const std::uint32_t channel = format.order[line.plane + i];
        std::uint16_t* to = &codes.at(channel, line.y, 0);
        for (std::uint32_t x = 0; x < surface.width; ++x) {
            const std::uint8_t* from = bytes.data() + x * pixel;
            to[x] = format.packed_word ? read_packed(from, format, i)
                                       : read_code(from + i * component, component);
        }
    }
}

}  // namespace npuscope
