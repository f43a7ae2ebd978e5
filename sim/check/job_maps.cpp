// SPDX-License-Identifier: Apache-2.0
#include "sim/check/job_maps.h"

#include <fmt/format.h>

#include "models/base/error.h"
#include "sim/convert/surface_spec.h"

namespace npuscope {

std::optional<NamedMap> map_of(const NamedSurface& surface) {
    SurfaceSpec spec;
    try {
        spec = parse_surface_spec(surface.spec);
    } catch (const ConfigError&) {
        return std::nullopt;  // a comment of another tool
    }
    const LogicalShape& shape = spec.layout.shape;
    if (spec.type->bytes != 1 || shape.elements() > UINT32_MAX) {
        return std::nullopt;
    }
    const auto extent = [&](char axis) { return static_cast<std::uint32_t>(shape.extent(axis)); };
    return NamedMap{surface.name,
                    surface.after,
                    {spec.base, {extent('C'), extent('H'), extent('W')}, spec.type->kind == 'i'},
                    surface.place};
}

std::string map_text(const MapSurface& map) {
    return fmt::format("{}x{}x{} {} at {}", map.shape.channels, map.shape.height, map.shape.width,
                       map.is_signed ? "int8" : "uint8", to_hex(map.base));
}

bool is_view_of(const Shape& one, const Shape& other) {
    const auto is_flat = [](const Shape& shape) { return shape.height * shape.width == 1; };
    return one.elements() == other.elements() &&
           (one.channels == other.channels || is_flat(one) || is_flat(other));
}

bool lies_as(const MapSurface& one, const MapSurface& other) {
    return one.base == other.base && is_view_of(one.shape, other.shape) &&
           one.is_signed == other.is_signed;
}

}  // namespace npuscope
