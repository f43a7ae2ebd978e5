// SPDX-License-Identifier: Apache-2.0
// Resize and Upsample to the nearest neighbour.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/model/element_picker.h"
#include "sim/model/operator_families.h"

namespace npuscope::host {
namespace {

/// Index of the input below output `out` of a nearest-neighbour resize.
std::int64_t nearest(std::int64_t out, std::int64_t out_size, std::int64_t in_size, double scale,
                     const GraphNode& node) {
    const std::string mode = node.text("coordinate_transformation_mode",
                                       node.op == "Upsample" ? "asymmetric" : "half_pixel");
    const auto place = static_cast<double>(out);
    double source = place / scale;
    if (mode == "half_pixel" || (mode == "pytorch_half_pixel" && out_size > 1)) {
        source = (place + 0.5) / scale - 0.5;
    } else if (mode == "pytorch_half_pixel") {
        source = 0;
    } else if (mode == "align_corners") {
        source = out_size == 1
                     ? 0
                     : place * static_cast<double>(in_size - 1) / static_cast<double>(out_size - 1);
    } else {
        require(mode == "asymmetric",
                fmt::format("coordinate_transformation_mode '{}' is not supported", mode),
                "half_pixel, pytorch_half_pixel, align_corners or asymmetric");
    }
    const std::string rounding =
        node.text("nearest_mode", node.op == "Upsample" ? "floor" : "round_prefer_floor");
    double index = std::floor(source);
    if (rounding == "ceil") {
        index = std::ceil(source);
    } else if (rounding == "round_prefer_floor") {
        index = std::ceil(source - 0.5);
    } else if (rounding == "round_prefer_ceil") {
        index = std::floor(source + 0.5);
    }
    return std::clamp<std::int64_t>(to_integer(index), 0, in_size - 1);
}

}  // namespace

/// Nearest neighbour only. Operands of Resize: x, roi, scales, sizes; of Upsample and Resize 10:
/// x, scales.
Values resize(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    const Sizes& in = input.type.sizes;
    require(operands.node.text("mode", "nearest") == "nearest",
            fmt::format("mode '{}' is not supported", operands.node.text("mode", "nearest")),
            "only 'nearest' is");
    const bool old = operands.node.op == "Upsample" || operands.opset < 11;
    const std::size_t scales_at = old ? 1 : 2;
    std::vector<double> scales;
    const auto attribute = operands.node.attributes.find("scales");
    if (operands.has(scales_at) && !operands.at(scales_at).numbers.empty()) {
        scales = operands.at(scales_at).numbers;
    } else if (attribute != operands.node.attributes.end() &&
               std::holds_alternative<std::vector<double>>(attribute->second)) {
        scales = std::get<std::vector<double>>(attribute->second);
    }
    Sizes out(in.size());
    if (scales.empty()) {
        require(operands.has(3) && operands.at(3).numbers.size() == in.size(),
                "it has neither scales nor sizes", "give one for every axis");
        out = integers_of(operands.at(3));
        for (std::size_t i = 0; i < in.size(); ++i) {
            scales.push_back(static_cast<double>(out[i]) / static_cast<double>(in[i]));
        }
    } else {
        require(scales.size() == in.size(), "it does not have one scale per axis", "give one");
        for (std::size_t i = 0; i < in.size(); ++i) {
            require(scales[i] > 0, "a scale is not positive", "give positive scales");
            out[i] = to_integer(std::floor(static_cast<double>(in[i]) * scales[i]));
        }
    }
    const std::vector<std::size_t> steps = steps_of(in);
    GraphNode node = operands.node;
    if (old && node.op == "Resize") {
        node.op = "Upsample";
    }
    return {pick(input, out, 0, [&](std::vector<std::int64_t> at) {
        for (std::size_t i = 0; i < at.size(); ++i) {
            at[i] = nearest(at[i], out[i], in[i], scales[i], node);
        }
        return index_of(at, steps);
    })};
}

}  // namespace npuscope::host
