// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/plan_surfaces.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/compile/nvdla/plan_program.h"
#include "sim/compile/surface_files.h"
#include "sim/model/network.h"

namespace npuscope {
namespace {

/// The text that parse_surface_spec() reads.
std::string spec_of(const StoredCube& stored, const Shape& shape, Precision precision) {
    const ElementType element = stored.pixels ? ElementType::Uint8 : map_element(precision);
    return fmt::format("{}:1x{}:{}:{}", to_hex(stored.cube.base), shape_text(shape),
                       enum_name(element), memory_layout_text(stored));
}

/// Bytes as they lie there: weights may be compressed or transformed.
std::string bytes_spec(const PlannedImage& image) {
    return fmt::format("{}:{}:uint8:W", to_hex(image.address), image.bytes.value);
}

}  // namespace

std::vector<NamedSurface> plan_surfaces(const Plan& plan) {
    std::vector<NamedSurface> surfaces;
    const Shape input = plan.input.cube.shape;
    surfaces.push_back({.name = "input", .spec = spec_of(plan.input, input, plan.precision)});
    for (const PlannedInput& more : plan.more_inputs) {
        surfaces.push_back(
            {.name = more.name, .spec = spec_of(more.stored, more.shape, plan.precision)});
    }
    for (const PlannedLayer& layer : plan.layers) {
        surfaces.push_back({.name = layer.name,
                            .spec = spec_of(layer.stored, layer.shape, plan.precision),
                            .after = sync_name(layer.last_operation()),
                            .is_result = true});
    }
    for (const PlannedImage& image : plan.images) {
        const bool known = std::ranges::any_of(surfaces, [&](const NamedSurface& surface) {
            return surface.name == image.name || surface.name + "_input" == image.name;
        });
        if (!known && image.bytes > Bytes(0)) {
            surfaces.push_back({.name = image.name, .spec = bytes_spec(image)});
        }
    }
    return surfaces;
}

}  // namespace npuscope
