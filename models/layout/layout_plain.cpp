// SPDX-License-Identifier: Apache-2.0
// Layouts without a vendor's entries: row-major in one order or another, and the 4-channel packing
// of mobile inference. source: ONNX operator documents (NCHW, OIHW); TI diagnostics (NHWC, HWIO)
#include <array>

#include "models/layout/layout_catalog.h"

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

}  // namespace npuscope
