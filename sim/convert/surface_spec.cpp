// SPDX-License-Identifier: Apache-2.0
#include "sim/convert/surface_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <variant>

#include "models/base/error.h"
#include "models/layout/relayout.h"
#include "sim/config/field_types.h"
#include "sim/config/npy_file.h"
#include "sim/convert/conversion.h"
#include "sim/convert/mapped_file.h"

namespace npuscope {
namespace {

constexpr const char* form =
    "ADDRESS:SHAPE:TYPE:LAYOUT, e.g. 0x90000000:1x16x10x10:int8:feature:atom=8";

/// Address, shape, type, and the remainder, which may contain colons.
std::array<std::string, 4> parts_of(const std::string& text) {
    std::array<std::string, 4> parts;
    std::string_view rest = text;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        const std::size_t colon = rest.find(':');
        if (colon == std::string_view::npos) {
            throw ConfigError(fmt::format("surface '{}' has {} of the four parts", text, i + 1),
                              std::string("write ") + form);
        }
        parts[i] = rest.substr(0, colon);
        rest.remove_prefix(colon + 1);
    }
    parts.back() = rest;
    return parts;
}

std::vector<std::uint64_t> extents_of(const LogicalShape& shape) {
    std::vector<std::uint64_t> extents;
    for (const AxisExtent& axis : shape.axes) {
        extents.push_back(axis.extent);
    }
    return extents;
}

/// Leading extents of 1 may be omitted.
std::vector<std::uint64_t> without_leading_ones(std::vector<std::uint64_t> extents) {
    const auto first =
        std::ranges::find_if(extents, [](std::uint64_t extent) { return extent != 1; });
    extents.erase(extents.begin(), first);
    return extents;
}

/// The array of a product has no rows and columns.
bool has_extents(std::vector<std::uint64_t> array, const LogicalShape& shape) {
    const std::vector<std::uint64_t> wanted = without_leading_ones(extents_of(shape));
    if (without_leading_ones(array) == wanted) {
        return true;
    }
    constexpr std::size_t flat = 2;
    const bool is_flat = array.size() == flat;
    array.resize(shape.axes.size(), 1);
    return is_flat && without_leading_ones(array) == wanted;
}

std::vector<std::uint8_t> read_array(const SurfaceSpec& surface, const std::string& path,
                                     std::span<const std::uint8_t> file) {
    const NpyHeader header = read_npy_header(file, path);
    if (header.type != surface.type || !has_extents(header.shape, surface.layout.shape)) {
        throw ConfigError(
            fmt::format("'{}' holds {}, but the surface has {} {}", path, to_string(header),
                        surface.type->name, to_string(surface.layout.shape)),
            "give an array of this type and shape");
    }
    return in_c_order(header, file.subspan(header.data_begin));
}

}  // namespace

std::vector<std::uint8_t> SurfaceSpec::elements(std::span<const std::uint8_t> memory) const {
    const Layout plain = plain_layout(layout.shape, layout.element);
    std::vector<std::uint8_t> values(plain.bytes);
    relayout(layout, memory, plain, values);
    return values;
}

bool is_surface_spec(const std::string& text) {
    return !text.empty() && text.front() >= '0' && text.front() <= '9' &&
           text.find(':') != std::string::npos;
}

SurfaceSpec parse_surface_spec(const std::string& text) {
    const auto [address, shape, type, layout] = parts_of(text);
    const auto base = parse_quantity(address, UnitKind::ByteAddress);
    if (const auto* fault = std::get_if<QuantityFault>(&base)) {
        throw ConfigError(fmt::format("surface '{}': {}", text, fault->sentence), fault->remedy);
    }
    SurfaceSpec surface;
    surface.base = Address(std::get<std::uint64_t>(base));
    try {
        surface.type = &find_element(type);
        const LayoutSpec spec = parse_layout_spec(layout);
        const auto extents = static_cast<std::size_t>(std::ranges::count(shape, 'x')) + 1;
        surface.layout =
            spec.bind_to(parse_shape(shape, spec.axes_for(extents)), surface.type->bytes);
    } catch (const ConfigError& error) {
        throw ConfigError(fmt::format("surface '{}': {}", text, error.sentence()), error.remedy());
    }
    return surface;
}

std::vector<std::uint8_t> read_surface_file(const SurfaceSpec& surface, const std::string& path) {
    const MappedInput mapped(path);
    const std::span<const std::uint8_t> file = mapped.bytes();
    if (is_npy(file)) {
        return read_array(surface, path, file);
    }
    const Layout& layout = surface.layout;
    if (file.size() < layout.used || file.size() > layout.bytes) {
        throw ConfigError(fmt::format("'{}' has {} byte{}, but {} of {} takes {}", path,
                                      file.size(), file.size() == 1 ? "" : "s", layout.sentence,
                                      to_string(layout.shape), layout.bytes),
                          "give the surface's bytes, or an array (.npy)");
    }
    return surface.elements(file);
}

std::string surface_npy(const SurfaceSpec& surface, std::span<const std::uint8_t> elements) {
    return npy_header(*surface.type, extents_of(surface.layout.shape)) +
           std::string(reinterpret_cast<const char*>(elements.data()), elements.size());
}

}  // namespace npuscope
