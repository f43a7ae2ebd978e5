// SPDX-License-Identifier: Apache-2.0
// ncnn blobs: P = elempack lanes of the packed axis lie beside each other.
//
//     3-D, 4-D  C/P D H W C%P   with channels `cstep` packed elements apart
//     2-D       H/P W H%P       1-D  W/P W%P
//
// cstep = a channel's bytes rounded up to 16, in whole packed elements. Images of a batch lie whole
// pages apart. source: ncnn's Mat and packing layer, cases of every dimension
#include <fmt/format.h>

#include <array>

#include "models/base/error.h"
#include "models/layout/layout_catalog.h"

namespace npuscope {

namespace {

constexpr std::uint64_t channel_multiple = 16;  // source: ncnn Mat, bytes
constexpr std::uint64_t batch_multiple = 4096;  // source: ncnn Mat, bytes

constexpr std::array ncnn_parameters{
    LayoutParameter{"elempack", 1, "lanes of a packed element"},
    LayoutParameter{"padding", 0, "1: lanes beyond the axis are padded with zeros"},
    LayoutParameter{"cstep", 0, "packed elements from channel to channel; 0: by ncnn's rule"}};

std::uint64_t elempack_of(const LayoutRow& row, const LayoutRequest& request) {
    const std::uint64_t wanted = parameter(row, request, "elempack");
    const std::uint64_t padding = parameter(row, request, "padding");
    if (wanted == 0 || wanted > 65536 || padding > 1) {
        throw ConfigError(fmt::format("elempack {}, padding {}", wanted, padding),
                          "elempack is 1 to 65536, padding 0 or 1");
    }
    return ncnn_elempack(request.shape, {1, wanted, padding == 1});
}

/// Bytes from one packed channel to the next. An odd element size truncates, as ncnn does.
std::uint64_t channel_step(std::uint64_t packed_elements, std::uint64_t packed_bytes) {
    const std::uint64_t bytes = packed_elements * packed_bytes;
    const std::uint64_t rounded =
        (bytes + channel_multiple - 1) / channel_multiple * channel_multiple;
    return rounded / packed_bytes * packed_bytes;
}

Layout make_ncnn(const LayoutRow& row, const LayoutRequest& request) {
    const LogicalShape& shape = request.shape;
    const std::uint64_t pack = elempack_of(row, request);
    const std::uint64_t packed_bytes = pack * request.element;
    const char axis = ncnn_packed_axis(shape);
    const std::uint64_t height =
        axis == 'H' ? (shape.extent('H') + pack - 1) / pack : shape.extent('H');
    const std::uint64_t width =
        axis == 'W' ? (shape.extent('W') + pack - 1) / pack : shape.extent('W');
    const std::uint64_t given = parameter(row, request, "cstep");
    const std::uint64_t elements = width * height * shape.extent('D');
    if (given != 0 && (given < elements || given > std::uint64_t{1} << 32U)) {
        throw ConfigError(fmt::format("a cstep of {} does not cover channels of {} packed elements",
                                      given, elements));
    }
    const std::uint64_t step =
        given == 0 ? channel_step(elements, packed_bytes) : given * packed_bytes;
    const std::string batch =
        shape.extent('N') > 1 ? fmt::format("N^{}", batch_multiple) : std::string("N");
    if (axis == 'C') {
        return bind_row(row, request,
                        fmt::format("{} C/{}:{} D H W C%{}", batch, pack, step, pack));
    }
    const std::string_view form = axis == 'H' ? "H/{0} W H%{0}" : "W/{0} W%{0}";
    Layout layout = bind_row(row, request, fmt::format(fmt::runtime(form), pack));
    layout.bytes = step;
    return layout;
}

constexpr std::array rows{LayoutRow{
    "ncnn", "ncnn", "N C/P D H W C%P", "blobs of any elempack P, 1-D to 4-D, channels cstep apart",
    "an elempack that does not divide the axis leaves elempack 1; padding=1 pads", "ncnn library",
    "NCDHW", 0, ncnn_parameters, make_ncnn}};

}  // namespace

char ncnn_packed_axis(const LogicalShape& shape) {
    for (const char axis : {'C', 'H'}) {
        if (shape.find(axis) != shape.axes.size()) {
            return axis;
        }
    }
    return 'W';
}

std::uint64_t ncnn_elempack(const LogicalShape& shape, const NcnnPacking& packing) {
    const std::uint64_t lanes = shape.extent(ncnn_packed_axis(shape));
    const bool divides = lanes % packing.wanted == 0;
    return divides || packing.padding ? packing.wanted : packing.present;
}

std::span<const LayoutRow> ncnn_layouts() { return rows; }

}  // namespace npuscope
