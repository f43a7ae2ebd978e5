// SPDX-License-Identifier: Apache-2.0
// The keys of a described surface: which surfaces each one has an effect on.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "models/base/error.h"
#include "sim/check/image_surface.h"

namespace npuscope {
namespace {

bool is_any_of(const PlacedSurface& surface, std::initializer_list<ImageKind> kinds) {
    return std::ranges::find(kinds, surface.kind) != kinds.end();
}
/// A `feature_1x1` has no lines.
bool is_feature(const PlacedSurface& surface) {
    return surface.kind == ImageKind::Feature && surface.layout.row->name == "feature";
}
bool is_per_element(const PlacedSurface& surface) { return surface.kind == ImageKind::PerElement; }
bool is_pixels(const PlacedSurface& surface) { return surface.kind == ImageKind::Pixels; }
bool has_lines(const PlacedSurface& surface) {
    return is_feature(surface) || is_per_element(surface) || is_pixels(surface);
}
bool has_surfaces(const PlacedSurface& surface) {
    return is_feature(surface) || is_per_element(surface);
}
bool has_two_planes(const PlacedSurface& surface) {
    return is_pixels(surface) && find_pixel_format(surface.layout.row->name)->planes == 2;
}
bool is_part_of_weights(const PlacedSurface& surface) {
    return is_any_of(surface, {ImageKind::Wmb, ImageKind::Wgs});
}
bool is_operand(const PlacedSurface& surface) {
    return is_any_of(surface, {ImageKind::PerChannel, ImageKind::PerElement});
}
bool has_elements(const PlacedSurface& surface) {
    return surface.kind != ImageKind::Raw && !is_part_of_weights(surface);
}

/// A key, and the surfaces that it has an effect on.
struct KeyRow {
    const char* name;
    bool (*is_given)(const ImageSurface& surface);
    bool (*has_effect)(const PlacedSurface& surface);
    const char* layouts;
};

constexpr std::array key_rows{
    KeyRow{"line_stride", [](const ImageSurface& one) { return one.line_stride.has_value(); },
           has_lines, "`feature`, `per_element` and pixels"},
    KeyRow{"surface_stride", [](const ImageSurface& one) { return one.surface_stride.has_value(); },
           has_surfaces, "`feature` and `per_element`"},
    KeyRow{"batch_stride", [](const ImageSurface& one) { return one.batch_stride.has_value(); },
           is_feature, "`feature`"},
    KeyRow{"address_1", [](const ImageSurface& one) { return one.address_1.has_value(); },
           has_two_planes, "pixels in two planes"},
    KeyRow{"line_stride_1", [](const ImageSurface& one) { return one.line_stride_1.has_value(); },
           has_two_planes, "pixels in two planes"},
    KeyRow{"x_offset", [](const ImageSurface& one) { return one.x_offset != 0; }, is_pixels,
           "pixels"},
    KeyRow{"of", [](const ImageSurface& one) { return !one.of.empty(); }, is_part_of_weights,
           "`wmb` and `wgs`"},
    KeyRow{"components", [](const ImageSurface& one) { return one.components != 1; }, is_operand,
           "`per_channel` and `per_element`"},
    KeyRow{"data", [](const ImageSurface& one) { return one.data.has_value(); }, is_operand,
           "`per_channel` and `per_element`"},
    KeyRow{"type", [](const ImageSurface& one) { return one.type.has_value(); }, has_elements,
           "layouts of elements"},
    KeyRow{"shape", [](const ImageSurface& one) { return !one.shape.empty(); }, has_elements,
           "layouts of elements"},
    KeyRow{"values", [](const ImageSurface& one) { return !one.values.empty(); }, has_elements,
           "layouts of elements"}};

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
        if (row.is_given(given) && !row.has_effect(surface)) {
            refuse(given, fmt::format("`{}` has no effect on layout {}", row.name, given.layout),
                   fmt::format("leave it out; it is of {}", row.layouts));
        }
    }
}

}  // namespace npuscope
