// SPDX-License-Identifier: Apache-2.0
#include "tests/support/full_layer_images.h"

#include <algorithm>

#include "tests/support/oracle_number.h"

namespace npuscope {

using oracle::FullLayer;
using oracle::Type;
using namespace layer_place;

namespace {

void put(std::vector<std::uint8_t>& bytes, std::uint64_t at, std::uint64_t value,
         std::uint32_t count) {
    bytes.resize(std::max<std::size_t>(bytes.size(), at + count));
    for (std::uint32_t i = 0; i < count; ++i) {
        bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
    }
}

/// Bytes of one pixel in the first and in the second plane.
std::array<std::uint32_t, 2> pixel_bytes(const FullLayer& layer) {
    const std::uint32_t component = layer.pixels.bytes;
    if (component == 0) {
        return {4, 0};
    }
    return layer.pixels.semi_planar ? std::array{component, 2 * component}
                                    : std::array{component * layer.channels, 0U};
}

/// The second plane's pixels are skipped modulo one atom.
std::uint32_t chroma_skip(const FullLayer& layer) {
    return layer.x_offset * pixel_bytes(layer)[1] % 32;
}

void put_pixel(const FullLayer& layer, std::uint32_t y, std::uint32_t x,
               std::array<LayerImage, 2>& planes) {
    const auto bytes = pixel_bytes(layer);
    const auto strides = pixel_strides(layer);
    const std::uint64_t first = std::uint64_t{y} * strides[0] + (layer.x_offset + x) * bytes[0];
    std::uint32_t word = 0;
    for (std::uint32_t c = 0; c < layer.channels; ++c) {
        const std::int64_t code = layer.data[layer.data_index(0, c, y, x)];
        const std::uint32_t component = layer.pixels.order[c];
        if (layer.pixels.bytes == 0) {
            const auto bits = static_cast<std::uint32_t>(code >> (c == 3 ? 14 : 6));
            word |= bits << (10 * component);
            continue;
        }
        const std::uint64_t bits = layer.pixels.floating ? oracle::element_bits(code, Type::Fp16)
                                                         : static_cast<std::uint64_t>(code);
        const std::uint32_t size = layer.pixels.bytes;
        if (layer.pixels.semi_planar && c > 0) {
            const std::uint64_t at = std::uint64_t{y} * strides[1] + chroma_skip(layer) +
                                     x * bytes[1] + component * size;
            put(planes[1].bytes, at, bits, size);
        } else {
            put(planes[0].bytes, first + component * size, bits, size);
        }
    }
    if (layer.pixels.bytes == 0) {
        put(planes[0].bytes, first, word, 4);
    }
}

}  // namespace

PackedCube input_cube(const FullLayer& layer) {
    return {layer.channels, layer.height, layer.width, layer.atom()};
}
PackedCube output_cube(const FullLayer& layer) {
    return {oracle::round_up(layer.kernels, layer.atom()), layer.out_height, layer.out_width,
            layer.atom()};
}

LayerImage feature_image(const FullLayer& layer) {
    const PackedCube cube = input_cube(layer);
    LayerImage image{data_base,
                     std::vector<std::uint8_t>(std::size_t{cube.batch()} * layer.batches)};
    for (std::uint32_t b = 0; b < layer.batches; ++b) {
        for (std::uint32_t c = 0; c < layer.channels; ++c) {
            for (std::uint32_t y = 0; y < layer.height; ++y) {
                for (std::uint32_t x = 0; x < layer.width; ++x) {
                    const std::int64_t value = layer.data[layer.data_index(b, c, y, x)];
                    put(image.bytes, cube.at(b, c, y, x), oracle::element_bits(value, layer.type),
                        layer.bytes());
                }
            }
        }
    }
    return image;
}

std::array<std::uint32_t, 2> pixel_strides(const FullLayer& layer) {
    const auto bytes = pixel_bytes(layer);
    const std::uint32_t columns = layer.x_offset + layer.width;
    return {oracle::round_up(columns * bytes[0], 32), oracle::round_up(columns * bytes[1], 32)};
}

std::array<LayerImage, 2> pixel_images(const FullLayer& layer) {
    const auto strides = pixel_strides(layer);
    std::array<LayerImage, 2> planes{LayerImage{data_base, {}}, LayerImage{chroma_base, {}}};
    for (std::size_t i = 0; i < 2; ++i) {
        planes[i].bytes.resize(std::size_t{strides[i]} * layer.height);
    }
    for (std::uint32_t y = 0; y < layer.height; ++y) {
        for (std::uint32_t x = 0; x < layer.width; ++x) {
            put_pixel(layer, y, x, planes);
        }
    }
    return planes;
}

LayerImage expected_image(const FullLayer& layer) {
    const PackedCube cube = output_cube(layer);
    LayerImage image{output_base, {}};
    image.bytes.resize(std::size_t{cube.batch()} * layer.batches);
    const std::vector<std::uint16_t> bits = oracle::output_bits(layer);
    std::size_t i = 0;
    for (std::uint32_t b = 0; b < layer.batches; ++b) {
        for (std::uint32_t c = 0; c < cube.channels; ++c) {
            for (std::uint32_t y = 0; y < cube.height; ++y) {
                for (std::uint32_t x = 0; x < cube.width; ++x) {
                    put(image.bytes, cube.at(b, c, y, x), bits[i++], layer.bytes());
                }
            }
        }
    }
    return image;
}

}  // namespace npuscope
