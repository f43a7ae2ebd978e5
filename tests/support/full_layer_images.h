// SPDX-License-Identifier: Apache-2.0
// Where a layer's surfaces are, and their bytes: feature cubes, pixels and the expected output.
// source: NVDLA format page
#pragma once

#include <array>
#include <cstdint>

#include "tests/support/generate_full_layer.h"

namespace npuscope {

namespace layer_place {
inline constexpr std::uint64_t data_base = 0x80000000;
inline constexpr std::uint64_t chroma_base = 0x80080000;
inline constexpr std::uint64_t weight_base = 0x80100000;
inline constexpr std::uint64_t mask_base = 0x80200000;
inline constexpr std::uint64_t sizes_base = 0x80280000;
inline constexpr std::uint64_t output_base = 0x80800000;
}  // namespace layer_place

constexpr std::uint32_t divided_up(std::uint64_t value, std::uint64_t unit) {
    return static_cast<std::uint32_t>((value + unit - 1) / unit);
}

/// Strides of a packed feature cube of 32-byte atoms.
struct PackedCube {
    std::uint32_t channels, height, width, atom;

    std::uint32_t surfaces() const { return divided_up(channels, atom); }
    std::uint32_t line() const { return width * 32; }
    std::uint32_t surface() const { return line() * height; }
    std::uint32_t batch() const { return surface() * surfaces(); }
    std::uint64_t at(std::uint32_t b, std::uint32_t c, std::uint32_t y, std::uint32_t x) const {
        return std::uint64_t{b} * batch() + c / atom * surface() + y * line() + x * 32 +
               c % atom * (32 / atom);
    }
};

PackedCube input_cube(const oracle::FullLayer& layer);
PackedCube output_cube(const oracle::FullLayer& layer);

/// Bytes from line to line of either plane.
std::array<std::uint32_t, 2> pixel_strides(const oracle::FullLayer& layer);

LayerImage feature_image(const oracle::FullLayer& layer);
std::array<LayerImage, 2> pixel_images(const oracle::FullLayer& layer);
LayerImage expected_image(const oracle::FullLayer& layer);

}  // namespace npuscope
