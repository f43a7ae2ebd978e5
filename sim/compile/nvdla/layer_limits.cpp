// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/layer_limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.h"

namespace npuscope {
namespace {

constexpr std::uint32_t largest_cube = 8192;  // source: NVDLA_CDMA.rdl, sizes of 13 bits
constexpr std::uint32_t largest_kernel = 32;  // source: NVDLA_CSC.rdl, WEIGHT_WIDTH_EXT
constexpr std::uint32_t largest_stride = 8;   // source: NVDLA_CSC.rdl, CONV_X_STRIDE_EXT

}  // namespace

void check_cube(const std::string& subject, const Shape& shape) {
    for (const std::uint32_t size : {shape.channels, shape.height, shape.width}) {
        if (size > largest_cube) {
            throw ConfigError(
                fmt::format("{}: {} is more than a register holds", subject, shape_text(shape)),
                "no size of a cube exceeds 8192");
        }
    }
}

void check_limits(const Layer& layer, const LayerShapes& shapes) {
    check_cube(fmt::format("layer '{}'", layer.name), shapes.output);
    const bool conv = layer.kind == LayerKind::Conv || layer.kind == LayerKind::Fc;
    const LayerWindow& window = shapes.window;
    if (conv && (std::max(window.rows, window.columns) > largest_kernel ||
                 std::max(window.stride_y, window.stride_x) > largest_stride ||
                 std::max(window.pad_top, window.pad_left) >= largest_kernel)) {
        throw ConfigError(fmt::format("layer '{}': kernels have up to 32 rows and columns, "
                                      "strides go to 8, padding to 31",
                                      layer.name),
                          "split the layer");
    }
}

}  // namespace npuscope
