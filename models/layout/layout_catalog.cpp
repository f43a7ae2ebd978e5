// SPDX-License-Identifier: Apache-2.0
// Layouts without a vendor's entries: row-major in one order or another, and the 4-channel packing
// of mobile inference. source: ONNX operator documents (NCHW, OIHW); TI diagnostics (NHWC, HWIO)
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

/// Whatever axes the shape has, in its own order.
Layout make_row_major(const LayoutRow& row, const LayoutRequest& request) {
    Layout layout = plain_layout(request.shape, request.element);
    layout.name = row.name;
    return layout;
}

constexpr std::array rows{
    LayoutRow{"nchw",
              "plain",
              "N C H W",
              "row-major in the order of the shape's axes",
              "",
              "ONNX operators",
              "NCHW",
              0,
              {},
              make_row_major},
    LayoutRow{"nhwc",
              "plain",
              "N H W C",
              "interleaved channels; also TINPU's feature maps",
              "",
              "TI layer diagnostics",
              "NCHW",
              0,
              {},
              make_plain},
    LayoutRow{"nc4hw4",
              "plain",
              "N C/4 H W C%4",
              "four channels beside each other",
              "",
              "mobile inference libraries",
              "NCHW",
              0,
              {},
              make_plain},
    LayoutRow{"kcrs",
              "plain",
              "K C R S",
              "weights as ONNX has them (OIHW)",
              "",
              "ONNX Conv",
              "KCRS",
              0,
              {},
              make_row_major},
    LayoutRow{"hwio",
              "plain",
              "R S C K",
              "TINPU's kernels",
              "",
              "TI layer diagnostics",
              "KCRS",
              0,
              {},
              make_plain},
};

}  // namespace

std::span<const LayoutRow> plain_layouts() { return rows; }

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
    std::vector<const LayoutRow*> rows;
    for (const auto family : {plain_layouts(), nvdla_layouts(), nvdla_weight_layouts(),
                              nvdla_pixel_layouts(), kneron_layouts(), ncnn_layouts()}) {
        for (const LayoutRow& row : family) {
            rows.push_back(&row);
        }
    }
    return rows;
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
        throw ConfigError(fmt::format("layout {} holds {}-byte elements, the type has {} bytes",
                                      row.name, row.element, request.element),
                          row.limits.empty() ? "" : std::string(row.limits));
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
            fmt::format("layout {} takes at most {} on axis {}, shape {} has {}", row.name, most,
                        axis, to_string(request.shape), request.shape.extent(axis)),
            std::string(row.limits));
    }
}

Layout bind_row(const LayoutRow& row, const LayoutRequest& request, std::string_view sentence,
                BindOptions options) {
    options.name = row.name;
    options.element = request.element;
    return bind(parse_sentence(sentence), request.shape, options);
}

}  // namespace npuscope
