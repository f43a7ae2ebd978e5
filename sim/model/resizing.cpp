// SPDX-License-Identifier: Apache-2.0
// Resize and its older names: nearest neighbour and linear interpolation.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

/// Input coordinate of output `out` of a resize, along one axis: in floats, as in ONNX Runtime.
float source_of(std::int64_t out, std::int64_t out_size, std::int64_t in_size, double scale,
                const GraphNode& node) {
    const std::string mode = node.text("coordinate_transformation_mode",
                                       node.op == "Upsample" ? "asymmetric" : "half_pixel");
    const auto place = static_cast<float>(out);
    const auto step = static_cast<float>(scale);
    if (mode == "half_pixel" || (mode == "pytorch_half_pixel" && out_size > 1)) {
        return (place + 0.5F) / step - 0.5F;
    }
    if (mode == "pytorch_half_pixel") {
        return 0;
    }
    if (mode == "align_corners") {
        return out_size == 1
                   ? 0
                   : place * static_cast<float>(in_size - 1) / static_cast<float>(out_size - 1);
    }
    require(mode == "asymmetric",
            fmt::format("coordinate_transformation_mode '{}' is not supported", mode),
            "half_pixel, pytorch_half_pixel, align_corners or asymmetric");
    return place / step;
}

/// Input index of output `out` of a nearest-neighbour resize.
std::int64_t nearest(std::int64_t out, std::int64_t out_size, std::int64_t in_size, double scale,
                     const GraphNode& node) {
    const float source = source_of(out, out_size, in_size, scale, node);
    const std::string rounding =
        node.text("nearest_mode", node.op == "Upsample" ? "floor" : "round_prefer_floor");
    float index = std::floor(source);
    if (rounding == "ceil") {
        index = std::ceil(source);
    } else if (rounding == "round_prefer_floor") {
        index = std::ceil(source - 0.5F);
    } else if (rounding == "round_prefer_ceil") {
        index = std::floor(source + 0.5F);
    }
    return std::clamp<std::int64_t>(to_integer(index), 0, in_size - 1);
}

/// Linear interpolation along one axis; `sources`: input coordinate of each output.
GraphValue interpolate(const GraphValue& input, std::size_t axis,
                       const std::vector<float>& sources) {
    TensorType type = input.type;
    const auto last = static_cast<float>(type.sizes[axis] - 1);
    type.sizes[axis] = static_cast<std::int64_t>(sources.size());
    const std::size_t inner = steps_of(input.type.sizes)[axis];
    const std::size_t size = unsigned_of(input.type.sizes[axis]);
    return fill(type, [&](std::size_t i) {
        const float source = std::clamp(sources[i / inner % sources.size()], 0.0F, last);
        const auto below = static_cast<std::size_t>(source);
        const std::size_t above = std::min(below + 1, size - 1);
        const std::size_t begin = i / inner / sources.size() * size * inner + i % inner;
        const double share = source - static_cast<float>(below);
        return input.numbers[begin + below * inner] * (1 - share) +
               input.numbers[begin + above * inner] * share;
    });
}

/// The two inputs around an output along one axis, and the weight of each.
struct Between {
    std::size_t below = 0;
    std::size_t above = 0;
    float below_share = 1;
    float above_share = 0;
};

std::vector<Between> between(const std::vector<float>& sources, std::int64_t in_size) {
    std::vector<Between> places;
    const auto last = static_cast<float>(in_size - 1);
    for (const float source : sources) {
        const float at = std::clamp(source, 0.0F, last);
        Between place;
        place.below = static_cast<std::size_t>(at);
        place.above = std::min(place.below + 1, unsigned_of(in_size - 1));
        const bool same = place.below == place.above;
        place.above_share = same ? 0.5F : at - static_cast<float>(place.below);
        place.below_share = same ? 0.5F : static_cast<float>(place.above) - at;
        places.push_back(place);
    }
    return places;
}

/// Linear along `axis` and the next one at once, in floats and in the order of ONNX Runtime's sum:
/// for values on a grid, the direction of ties depends on both.
/// source: onnxruntime, upsample.h, UpsampleBilinear
GraphValue interpolate_plane(const GraphValue& input, std::size_t axis,
                             const std::vector<Between>& rows,
                             const std::vector<Between>& columns) {
    TensorType type = input.type;
    const std::size_t inner = steps_of(input.type.sizes)[axis + 1];
    const std::size_t width = unsigned_of(type.sizes[axis + 1]);
    const std::size_t plane = unsigned_of(type.sizes[axis]) * width * inner;
    type.sizes[axis] = std::ssize(rows);
    type.sizes[axis + 1] = std::ssize(columns);
    return fill(type, [&](std::size_t i) {
        const Between& column = columns[i / inner % columns.size()];
        const Between& row = rows[i / inner / columns.size() % rows.size()];
        const std::size_t begin = i / inner / columns.size() / rows.size() * plane + i % inner;
        const auto at = [&](std::size_t y, std::size_t x) {
            return static_cast<float>(input.numbers[begin + (y * width + x) * inner]);
        };
        float sum = column.below_share * row.below_share * at(row.below, column.below);
        sum += column.above_share * row.below_share * at(row.below, column.above);
        sum += column.below_share * row.above_share * at(row.above, column.below);
        sum += column.above_share * row.above_share * at(row.above, column.above);
        return static_cast<double>(sum);
    });
}

/// The first of two consecutive axes that are the only scaled ones; the last such pair.
std::optional<std::size_t> scaled_plane(const std::vector<double>& scales) {
    for (std::size_t second = scales.size(); second-- > 1;) {
        bool others = true;
        for (std::size_t i = 0; i < scales.size(); ++i) {
            others = others && (i == second - 1 || i == second || scales[i] == 1);
        }
        if (others) {
            return second - 1;
        }
    }
    return std::nullopt;
}

GraphValue interpolate(const GraphValue& input, const std::vector<double>& scales,
                       const std::vector<std::vector<float>>& sources) {
    const Sizes& in = input.type.sizes;
    const std::optional<std::size_t> plane = scaled_plane(scales);
    const bool has_elements = std::ranges::all_of(in, [](std::int64_t size) { return size > 0; });
    if (plane && has_elements && input.type.element == ElementType::Float32) {
        return interpolate_plane(input, *plane, between(sources[*plane], in[*plane]),
                                 between(sources[*plane + 1], in[*plane + 1]));
    }
    GraphValue result = input;
    for (std::size_t axis = 0; axis < sources.size(); ++axis) {
        if (scales[axis] != 1 && in[axis] > 0 && !sources[axis].empty()) {
            result = interpolate(result, axis, sources[axis]);
        }
    }
    return result;
}

/// Nearest neighbour or linear. Operands of Resize: x, roi, scales, sizes; of Upsample and Resize
/// 10: x, scales.
Values resize(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    const Sizes& in = input.type.sizes;
    const std::string mode = operands.node.text("mode", "nearest");
    require(mode == "nearest" || mode == "linear", fmt::format("mode '{}' is not supported", mode),
            "use 'nearest' or 'linear'");
    require(operands.node.integer("antialias", 0) == 0, "antialiasing is not supported",
            "set antialias to 0");
    const bool old = operands.node.op == "Upsample" || operands.opset < 11;
    const std::size_t scales_at = old ? 1 : 2;
    std::vector<double> scales =
        operands.has(scales_at) ? operands.at(scales_at).numbers : std::vector<double>{};
    if (scales.empty()) {
        scales = operands.node.numbers("scales");
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
        require(scales.size() == in.size(), "it does not have one scale per axis",
                "give a scale for every axis");
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
    if (mode == "linear") {
        std::vector<std::vector<float>> sources(out.size());
        for (std::size_t axis = 0; axis < out.size(); ++axis) {
            for (std::int64_t place = 0; place < out[axis]; ++place) {
                sources[axis].push_back(source_of(place, out[axis], in[axis], scales[axis], node));
            }
        }
        return {interpolate(input, scales, sources)};
    }
    return {pick(input, out, 0, [&](std::vector<std::int64_t> at) {
        for (std::size_t i = 0; i < at.size(); ++i) {
            at[i] = nearest(at[i], out[i], in[i], scales[i], node);
        }
        return index_of(at, steps);
    })};
}

constexpr std::array rows{
    OperatorRow{.op = "Resize",
                .inputs = {1, 4},
                .evaluate = resize,
                .attributes =
                    "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
                    "extrapolation_value keep_aspect_ratio_policy mode nearest_mode",
                .sizing = operand(2) | operand(3),
                .range = range_of_first},
    OperatorRow{.op = "Upsample",
                .inputs = {1, 2},
                .evaluate = resize,
                .attributes = "mode scales",
                .sizing = operand(1),
                .range = range_of_first}};

}  // namespace

std::span<const OperatorRow> resizing_operators() { return rows; }

}  // namespace npuscope::host
