// SPDX-License-Identifier: Apache-2.0
// Layouts without a vendor's entries: row-major in various orders, and the 4-channel packing of
// mobile inference. source: ONNX operator documents (NCHW, OIHW); TI diagnostics (NHWC, HWIO)
#include "models/layout/layout_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "models/base/error.h"

namespace npuscope {
namespace {

Layout make_plain(const LayoutRow& row, const LayoutRequest& request) {
    return bind_row(row, request, row.sentence);
}

/// Whatever axes the shape has, in the shape's order.
Layout make_row_major(const LayoutRow& row, const LayoutRequest& request) {
    Layout layout = plain_layout(request.shape, request.element);
    layout.name = row.name;
    return layout;
}

constexpr LayoutRow plain(std::string_view name, std::string_view sentence, std::string_view use,
                          std::string_view source, std::string_view axes,
                          decltype(LayoutRow::make) make) {
    return {name, "plain", sentence, use, "", source, axes, 0, {}, make};
}

constexpr std::array plain_rows{
    plain("nchw", "N C H W", "row-major in the order of the shape's axes", "ONNX operators", "NCHW",
          make_row_major),
    plain("nhwc", "N H W C", "interleaved channels; also TINPU's feature maps",
          "TI layer diagnostics", "NCHW", make_plain),
    plain("nc4hw4", "N C/4 H W C%4", "four channels interleaved", "mobile inference libraries",
          "NCHW", make_plain),
    plain("kcrs", "K C R S", "weights as ONNX has them (OIHW)", "ONNX Conv", "KCRS",
          make_row_major),
    plain("hwio", "R S C K", "TINPU's kernels", "TI layer diagnostics", "KCRS", make_plain),
};

}  // namespace

std::span<const LayoutRow> plain_layouts() { return plain_rows; }

namespace {

bool same_name(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) {
        return std::toupper(static_cast<unsigned char>(x)) ==
               std::toupper(static_cast<unsigned char>(y));
    });
}

void require_known_parameters(const LayoutRow& row, const LayoutRequest& request) {
    for (const auto& [name, value] : request.parameters) {
        if (std::ranges::find(row.parameters, name, &LayoutParameter::name) !=
            row.parameters.end()) {
            continue;
        }
        std::string known;
        for (const LayoutParameter& each : row.parameters) {
            known += known.empty() ? "" : ", ";
            known += each.name;
        }
        throw ConfigError(fmt::format("layout {} has no parameter '{}'", row.name, name),
                          known.empty() ? "it has none" : "it has " + known);
    }
}

}  // namespace

std::vector<const LayoutRow*> layout_catalog() {
    std::vector<const LayoutRow*> all;
    for (const auto family : {plain_layouts(), nvdla_layouts(), nvdla_weight_layouts(),
                              nvdla_pixel_layouts(), kneron_layouts(), ncnn_layouts()}) {
        for (const LayoutRow& row : family) {
            all.push_back(&row);
        }
    }
    return all;
}

const LayoutRow* find_layout(std::string_view name) {
    for (const LayoutRow* row : layout_catalog()) {
        if (same_name(row->name, name)) {
            return row;
        }
    }
    return nullptr;
}

Layout make_layout(const LayoutRow& row, const LayoutRequest& request) {
    require_sane(request.shape);
    require_known_parameters(row, request);
    if (row.element != 0 && request.element != row.element) {
        const auto bytes = [](std::uint32_t count) {
            return fmt::format("{} byte{}", count, count == 1 ? "" : "s");
        };
        throw ConfigError(fmt::format("layout {} holds elements of {}, but the type has {}",
                                      row.name, bytes(row.element), bytes(request.element)),
                          fmt::format("choose a type of {}", bytes(row.element)));
    }
    return row.make(row, request);
}

std::uint64_t parameter(const LayoutRow& row, const LayoutRequest& request, std::string_view name) {
    const auto given = request.parameters.find(name);
    if (given != request.parameters.end()) {
        return given->second;
    }
    const auto standard = std::ranges::find(row.parameters, name, &LayoutParameter::name);
    return standard == row.parameters.end() ? 0 : standard->standard;
}

void require_extent(const LayoutRow& row, const LayoutRequest& request, char axis,
                    std::uint64_t most) {
    if (request.shape.extent(axis) > most) {
        throw ConfigError(
            fmt::format("layout {} supports at most {} on axis {}, but shape {} has {}", row.name,
                        most, axis, to_string(request.shape), request.shape.extent(axis)),
            std::string(row.limits));
    }
}

Layout bind_row(const LayoutRow& row, const LayoutRequest& request, std::string_view sentence,
                BindOptions options) {
    options.name = row.name;
    options.element = request.element;
    return npuscope::bind(parse_sentence(sentence), request.shape, options);
}

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
                          "elempack must be 1 to 65536, padding 0 or 1");
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

constexpr std::array ncnn_rows{LayoutRow{
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

std::span<const LayoutRow> ncnn_layouts() { return ncnn_rows; }

}  // namespace npuscope
