// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "tests/support/generate_convolve.h"
#include "tests/support/generate_parts.h"

namespace npuscope {

namespace {

using oracle::PixelConverter;
using oracle::PixelSurface;

constexpr std::uint32_t format_y8_u8v8 = 28;  // source: NVDLA_CDMA.rdl, PIXEL_FORMAT
constexpr std::uint32_t format_y8_v8u8 = 29;

bool two_planes(std::uint32_t format) {
    return format == format_y8_u8v8 || format == format_y8_v8u8;
}

PixelSurface choose_pixels(Scene& scene) {
    Random& random = scene.random;
    PixelSurface pixels;
    pixels.format =
        random.one_of<std::uint32_t>({0, 12, 13, 14, 15, 16, 17, 18, 19, 26, 27, 28, 29});
    pixels.atom = scene.preset.atom;
    pixels.sign_override = random.chance(30);
    pixels.width = random.chance(8) ? random.size(60, 180) : random.size(1, 36);
    pixels.height = random.size(1, 20);
    const std::uint32_t pixel_bytes = pixels.channels() == 4      ? 4
                                      : two_planes(pixels.format) ? 2
                                                                  : 1;
    pixels.x_offset = random.chance(40) ? random.size(0, pixels.atom / pixel_bytes - 1) : 0;
    const std::uint32_t first = pixels.channels() == 4 ? 4 : 1;
    const std::uint32_t columns = pixels.x_offset + pixels.width;
    pixels.line_stride = oracle::round_up(columns * first, 32) + 32 * random.size(0, 2);
    pixels.chroma_stride = oracle::round_up(columns * 2, 32) + 32 * random.size(0, 2);
    return pixels;
}

PixelConverter choose_converter(Random& random) {
    PixelConverter converter;
    converter.enabled = random.chance(75);
    converter.mean = random.chance(50);
    for (std::int32_t& mean : converter.means) {
        mean = static_cast<std::int32_t>(random.between(0, 200));
    }
    converter.offset = static_cast<std::int32_t>(random.between(-20, 200));
    converter.truncate = random.chance(30) ? 0 : random.size(0, 14);
    const std::int64_t unity = std::int64_t{1} << std::min(converter.truncate, 14U);
    converter.scale = static_cast<std::int32_t>(
        random.chance(92) ? random.between(std::max<std::int64_t>(unity / 3, 1), unity + unity / 4)
                          : random.between(-300, 300));
    return converter;
}

/// Rows that share a weight entry, where the shape allows it.
/// source: NVDLA format page; limits as in the public compiler
std::uint32_t choose_row_group(Scene& scene, const ConvolveShape& s) {
    const std::uint32_t folded = s.columns * s.channels;
    const std::uint32_t step = s.channels * s.window.stride_x;
    const std::uint32_t depth = scene.preset.atomic_c;
    if (scene.random.chance(50)) {
        return 1;
    }
    if (folded <= depth / 4 && step * 3 + folded <= depth && s.rows / 4 > 1) {
        return 4;
    }
    return folded <= depth / 2 && step + folded <= depth && s.rows / 2 > 1 ? 2 : 1;
}

ConvolveShape choose(Scene& scene, const PixelSurface& pixels) {
    Random& random = scene.random;
    for (;;) {
        ConvolveShape s;
        s.channels = pixels.channels();
        s.input = {s.channels, pixels.height, pixels.width};
        s.rows = random.size(1, random.chance(20) ? 11 : 6);
        s.columns = random.size(1, random.chance(20) ? 11 : 5);
        s.kernels = random.size(1, scene.preset.atomic_k * 3);
        s.window.stride_x = random.chance(60) ? 1 : random.size(1, 4);
        s.window.stride_y = random.chance(60) ? 1 : random.size(1, 4);
        const bool padded = random.chance(60);
        s.window.pad_left = padded ? random.size(0, s.columns - 1) : 0;
        s.window.pad_top = padded ? random.size(0, s.rows - 1) : 0;
        s.pad_right = padded ? random.size(0, s.columns - 1) : 0;
        s.pad_bottom = padded ? random.size(0, s.rows - 1) : 0;
        s.window.pad_value = static_cast<std::int32_t>(random.between(-128, 127));
        const std::uint32_t line = (s.window.pad_left + pixels.width + s.pad_right) * s.channels;
        s.entries = (line + scene.preset.bank_width - 1) / scene.preset.bank_width;
        s.row_group = choose_row_group(scene, s);
        if (fit(scene, s)) {
            return s;
        }
    }
}

void set_planes(UnitRegisters& cdma, const PixelSurface& pixels) {
    const std::uint32_t sign = pixels.sign_override ? 0x100000U : 0U;
    cdma.set("D_DATAIN_FORMAT", 1U | pixels.format << 8U | sign);
    cdma.set("D_DAIN_RAM_TYPE", ram_type(pixels.base));
    cdma.set("D_DAIN_ADDR_HIGH_0", static_cast<std::uint32_t>(pixels.base >> 32U));
    cdma.set("D_DAIN_ADDR_LOW_0", static_cast<std::uint32_t>(pixels.base));
    cdma.set("D_LINE_STRIDE", static_cast<std::uint32_t>(pixels.line_stride));
    cdma.set("D_PIXEL_OFFSET", pixels.x_offset);
    cdma.set("D_DAIN_MAP", 0);
    if (two_planes(pixels.format)) {
        cdma.set("D_DAIN_ADDR_HIGH_1", static_cast<std::uint32_t>(pixels.chroma_base >> 32U));
        cdma.set("D_DAIN_ADDR_LOW_1", static_cast<std::uint32_t>(pixels.chroma_base));
        cdma.set("D_LINE_UV_STRIDE", static_cast<std::uint32_t>(pixels.chroma_stride));
    }
}

void set_converter(UnitRegisters& cdma, const PixelConverter& converter) {
    cdma.set("D_CVT_CFG", (converter.enabled ? 1U : 0U) | converter.truncate << 4U);
    cdma.set("D_MEAN_FORMAT", converter.mean ? 1 : 0);
    if (!converter.enabled) {
        return;
    }
    cdma.set("D_CVT_SCALE", field(converter.scale, 16));
    if (converter.mean) {
        const auto& m = converter.means;
        cdma.set("D_MEAN_GLOBAL_0", field(m[0], 16) | field(m[1], 16, 16));
        cdma.set("D_MEAN_GLOBAL_1", field(m[2], 16) | field(m[3], 16, 16));
    } else {
        cdma.set("D_CVT_OFFSET", field(converter.offset, 16));
    }
}

void load_pixels(Scene& scene, PixelSurface& pixels) {
    const std::uint64_t bytes = pixels.line_stride * pixels.height;
    pixels.base = scene.allocate(bytes);
    scene.load_random(pixels.base, bytes, "pixels");
    if (two_planes(pixels.format)) {
        const std::uint64_t chroma = pixels.chroma_stride * pixels.height;
        do {  // one RAM_TYPE for both planes
            pixels.chroma_base = scene.allocate(chroma);
        } while (ram_type(pixels.chroma_base) != ram_type(pixels.base));
        scene.load_random(pixels.chroma_base, chroma, "chroma");
    }
}

}  // namespace

Front image_front(Scene& scene) {
    PixelSurface pixels = choose_pixels(scene);
    const PixelConverter converter = choose_converter(scene.random);
    const ConvolveShape shape = choose(scene, pixels);
    load_pixels(scene, pixels);
    oracle::WeightSurface weights;
    weights.channels = shape.columns * shape.channels;
    ConvolveUnits units = make_convolve_units(scene, shape, weights);
    set_planes(units.cdma, pixels);
    set_converter(units.cdma, converter);
    units.csc.set("D_DATAIN_FORMAT", 1);
    units.csc.set("D_DILATION_EXT", 0);
    Front front;
    front.flying = true;
    front.size = {shape.kernels, shape.out_height, shape.out_width};
    front.values = oracle::convolve(oracle::read_pixels(pixels, converter, scene.memory), weights,
                                    {shape.channels, shape.columns}, shape.window,
                                    accumulator(scene, shape), scene.memory);
    front.sentence =
        fmt::format("image convolution, pixel format {}, {}x{}, {} kernels {}x{}", pixels.format,
                    pixels.width, pixels.height, shape.kernels, shape.columns, shape.rows);
    front.units = in_order(units);
    return front;
}

}  // namespace npuscope
