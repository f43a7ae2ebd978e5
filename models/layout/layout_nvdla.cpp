// SPDX-License-Identifier: Apache-2.0
// NVDLA's feature data and the SDP's operand tables as catalogue rows. Units of the machine use
// feature_cube.h and operand_layout.h, which say the same for one surface at an address.
// source: NVDLA format page, "Feature Data Format" to "Element-Wise Data Format"
#include <fmt/format.h>

#include <array>

#include "models/base/error.h"
#include "models/layout/layout_catalog.h"

namespace npuscope {

namespace {

// source: hardware spec files; 32 is nv_full's and nv_large's memory atom
constexpr std::array feature_parameters{
    LayoutParameter{"atom", 32, "bytes of the memory atom: 8, 16 or 32"},
    LayoutParameter{"line_stride", 0, "bytes from line to line; 0: packed"},
    LayoutParameter{"surface_stride", 0, "bytes from surface to surface; 0: packed"},
};
constexpr std::array atom_parameters{
    LayoutParameter{"atom", 32, "bytes of the memory atom: 8, 16 or 32"}};
// source: NVDLA format page; int8-only configurations: the memory atom's size
constexpr std::array operand_parameters{
    LayoutParameter{"lanes", 32, "elements of an atom: 32 for int8, 16 for 16 bits on nv_full"}};
constexpr std::array element_parameters{
    LayoutParameter{"lanes", 32, "elements of an atom: 32 for int8, 16 for 16 bits on nv_full"},
    LayoutParameter{"line_stride", 0, "bytes from line to line; 0: packed"},
    LayoutParameter{"surface_stride", 0, "bytes from surface to surface; 0: packed"}};

std::string pitched(std::string digit, std::uint64_t pitch) {
    return pitch == 0 ? digit : fmt::format("{}:{}", digit, pitch);
}

std::uint64_t lanes_of_atom(const LayoutRow& row, const LayoutRequest& request) {
    const std::uint64_t atom = parameter(row, request, "atom");
    if (atom == 0 || atom > 65536 || atom % request.element != 0) {
        throw ConfigError(fmt::format("an atom of {} bytes does not hold elements of {} bytes",
                                      atom, request.element),
                          std::string(row.limits));
    }
    return atom / request.element;
}

void require_lanes(std::uint64_t lanes) {
    if (lanes == 0 || lanes > 65536) {
        throw ConfigError(fmt::format("an atom of {} elements", lanes), "1 to 65536");
    }
}

/// The registers hold strides in atoms.
void require_whole_atoms(const LayoutRow& row, const LayoutRequest& request) {
    const std::uint64_t atom = parameter(row, request, "atom");
    for (const char* name : {"line_stride", "surface_stride"}) {
        const std::uint64_t stride = parameter(row, request, name);
        if (stride % atom != 0) {
            throw ConfigError(
                fmt::format("{} {} of layout {} is no multiple of the atom's {} bytes", name,
                            stride, row.name, atom),
                fmt::format("{} or {}", stride / atom * atom, (stride / atom + 1) * atom));
        }
    }
}

Layout make_feature(const LayoutRow& row, const LayoutRequest& request) {
    const std::uint64_t lanes = lanes_of_atom(row, request);
    require_whole_atoms(row, request);
    const std::string surface =
        pitched(fmt::format("C/{}", lanes), parameter(row, request, "surface_stride"));
    const std::string line = pitched("H", parameter(row, request, "line_stride"));
    return bind_row(row, request, fmt::format("N {} {} W C%{}", surface, line, lanes));
}

Layout make_vector(const LayoutRow& row, const LayoutRequest& request) {
    require_extent(row, request, 'H', 1);
    require_extent(row, request, 'W', 1);
    return bind_row(row, request, fmt::format("N C/{0} H W C%{0}", lanes_of_atom(row, request)));
}

/// Components are axis N: ALU first, then MUL.
Layout make_table(const LayoutRow& row, const LayoutRequest& request) {
    const std::uint64_t components = row.name == "batch_norm" ? 2 : 1;
    if (request.shape.extent('N') != components) {
        throw ConfigError(
            fmt::format("layout {} has {} components on axis N, shape {} has {}", row.name,
                        components, to_string(request.shape), request.shape.extent('N')),
            std::string(row.limits));
    }
    require_extent(row, request, 'H', 1);
    require_extent(row, request, 'W', 1);
    const std::uint64_t lanes = parameter(row, request, "lanes");
    require_lanes(lanes);
    return bind_row(row, request, fmt::format("C/{0} H W C%{0} N", lanes));
}

Layout make_elementwise(const LayoutRow& row, const LayoutRequest& request) {
    require_extent(row, request, 'N', 2);
    const std::uint64_t lanes = parameter(row, request, "lanes");
    require_lanes(lanes);
    const std::string surface =
        pitched(fmt::format("C/{}", lanes), parameter(row, request, "surface_stride"));
    const std::string line = pitched("H", parameter(row, request, "line_stride"));
    return bind_row(row, request, fmt::format("{} {} W C%{} N", surface, line, lanes));
}

constexpr std::array rows{
    LayoutRow{"feature", "nvdla", "N C/E H W C%E", "feature cube; E = atom / element bytes",
              "strides are multiples of the atom", "NVDLA format page, traces", "NCHW", 0,
              feature_parameters, make_feature},
    LayoutRow{"feature_1x1", "nvdla", "N C/E C%E", "surface-packed cube of one pixel",
              "height and width are 1", "NVDLA format page", "NCHW", 0, atom_parameters,
              make_vector},
    LayoutRow{"bias", "nvdla", "C/L C%L", "bias per channel, whole atoms of L lanes",
              "N = H = W = 1; elements of 1 or 2 bytes", "NVDLA format page, C model", "NCHW", 0,
              operand_parameters, make_table},
    LayoutRow{"prelu", "nvdla", "C/L C%L", "PReLU slopes per channel, whole atoms of L lanes",
              "N = H = W = 1; elements of 1 or 2 bytes", "NVDLA format page, C model", "NCHW", 0,
              operand_parameters, make_table},
    LayoutRow{"batch_norm", "nvdla", "C/L C%L N", "pairs per channel: ALU value, MUL value",
              "N = 2 components, H = W = 1; elements of 1 or 2 bytes", "NVDLA format page, C model",
              "NCHW", 0, operand_parameters, make_table},
    LayoutRow{"elementwise", "nvdla", "C/L H W C%L N",
              "operand per element; two components: ALU value, MUL value",
              "N = 1 or 2 components; elements of 1 or 2 bytes", "NVDLA format page, C model",
              "NCHW", 0, element_parameters, make_elementwise},
};

}  // namespace

std::span<const LayoutRow> nvdla_layouts() { return rows; }

}  // namespace npuscope
