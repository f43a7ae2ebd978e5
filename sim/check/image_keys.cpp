// SPDX-License-Identifier: Apache-2.0
// The keys of a described surface: which kinds of surfaces each one has an effect on.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "models/base/error.h"
#include "sim/check/image_surface.h"

namespace npuscope {
namespace {

constexpr std::array of_lines{ImageKind::Feature, ImageKind::Pixels, ImageKind::PerElement};
constexpr std::array of_surfaces{ImageKind::Feature, ImageKind::PerElement};
constexpr std::array of_features{ImageKind::Feature};
constexpr std::array of_pixels{ImageKind::Pixels};
constexpr std::array of_operands{ImageKind::PerChannel, ImageKind::PerElement};
constexpr std::array of_compression{ImageKind::Wmb, ImageKind::Wgs};

/// A key, and the kinds of surfaces that it has an effect on.
struct KeyRow {
    const char* name;
    bool (*is_given)(const ImageSurface& surface);
    std::span<const ImageKind> kinds;
    const char* layouts;
};

constexpr std::array key_rows{
    KeyRow{"line_stride", [](const ImageSurface& one) { return one.line_stride.has_value(); },
           of_lines, "`feature`, `per_element` and pixels"},
    KeyRow{"surface_stride", [](const ImageSurface& one) { return one.surface_stride.has_value(); },
           of_surfaces, "`feature` and `per_element`"},
    KeyRow{"batch_stride", [](const ImageSurface& one) { return one.batch_stride.has_value(); },
           of_features, "`feature`"},
    KeyRow{"address_1", [](const ImageSurface& one) { return one.address_1.has_value(); },
           of_pixels, "pixels in two planes"},
    KeyRow{"line_stride_1", [](const ImageSurface& one) { return one.line_stride_1.has_value(); },
           of_pixels, "pixels in two planes"},
    KeyRow{"x_offset", [](const ImageSurface& one) { return one.x_offset != 0; }, of_pixels,
           "pixels"},
    KeyRow{"of", [](const ImageSurface& one) { return !one.of.empty(); }, of_compression,
           "`wmb` and `wgs`"},
    KeyRow{"components", [](const ImageSurface& one) { return one.components != 1; }, of_operands,
           "`per_channel` and `per_element`"},
    KeyRow{"data", [](const ImageSurface& one) { return one.data.has_value(); }, of_operands,
           "`per_channel` and `per_element`"}};

}  // namespace

void refuse(const ImageSurface& surface, const std::string& what, const std::string& remedy) {
    throw ConfigError(surface.place, fmt::format("surface '{}': {}", surface.name, what), remedy);
}

void check_keys(const PlacedSurface& surface) {
    const ImageSurface& given = surface.described;
    const bool in_range = given.address.value <= ~std::uint64_t{0} >> 2U &&
                          given.address_1.value_or(Address(0)).value <= ~std::uint64_t{0} >> 2U &&
                          given.bytes.value_or(Bytes(0)).value <= std::uint64_t{1} << 48U;
    if (!in_range) {
        refuse(given, "its address lies outside any memory", "addresses have up to 62 bits");
    }
    for (const KeyRow& row : key_rows) {
        if (row.is_given(given) && std::ranges::find(row.kinds, surface.kind) == row.kinds.end()) {
            refuse(given, fmt::format("`{}` has no effect on layout {}", row.name, given.layout),
                   fmt::format("leave it out; it is of {}", row.layouts));
        }
    }
}

}  // namespace npuscope
