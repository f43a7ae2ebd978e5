// SPDX-License-Identifier: Apache-2.0
// Resize and its older names: nearest neighbour, linear and cubic interpolation.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

/// One axis of a resize.
struct ResizedAxis {
    std::int64_t in = 1;
    std::int64_t out = 1;
    double scale = 1;
    float first = 0;  ///< of the region that tf_crop_and_resize takes, as a share of the input
    float last = 1;

    /// Neither scaled nor cropped.
    bool is_whole() const { return scale == 1 && first == 0 && last == 1; }
};

/// Bound of a region, in sizes of the input: places in it must be exact enough in floats.
constexpr double farthest = 1e6;

std::string transformation_of(const GraphNode& node) {
    return node.text("coordinate_transformation_mode",
                     node.op == "Upsample" ? "asymmetric" : "half_pixel");
}

/// Input coordinate of output `out`, along one axis: in floats, as in ONNX Runtime.
float source_of(std::int64_t out, const ResizedAxis& axis, const GraphNode& node) {
    const auto [in_size, out_size, scale, first, last] = axis;
    const std::string mode = transformation_of(node);
    const auto place = static_cast<float>(out);
    const auto step = static_cast<float>(scale);
    if (mode == "half_pixel" || (mode == "pytorch_half_pixel" && out_size > 1)) {
        return (place + 0.5F) / step - 0.5F;
    }
    if (mode == "pytorch_half_pixel") {
        return 0;
    }
    if (mode == "half_pixel_symmetric") {  // with the middle of the input in that of the result
        const auto size = static_cast<float>(in_size);
        const float share = static_cast<float>(out_size) / (step * size);
        return size / 2 * (1 - share) + (place + 0.5F) / step - 0.5F;
    }
    if (mode == "tf_half_pixel_for_nn") {
        return (place + 0.5F) / step;
    }
    if (mode == "align_corners") {
        return out_size == 1
                   ? 0
                   : place * static_cast<float>(in_size - 1) / static_cast<float>(out_size - 1);
    }
    if (mode == "tf_crop_and_resize") {
        const auto end = static_cast<float>(in_size - 1);
        return out_size > 1
                   ? first * end + place * (last - first) * end / static_cast<float>(out_size - 1)
                   : 0.5F * (first + last) * end;
    }
    require(mode == "asymmetric",
            fmt::format("coordinate_transformation_mode '{}' is not supported", mode),
            "use half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, "
            "tf_half_pixel_for_nn or tf_crop_and_resize");
    return place / step;
}

/// Input index of output `out` of a nearest-neighbour resize.
std::int64_t nearest(std::int64_t out, const ResizedAxis& axis, const GraphNode& node) {
    const float source = source_of(out, axis, node);
    const std::string rounding =
        node.text("nearest_mode", node.op == "Upsample" ? "floor" : "round_prefer_floor");
    float index = 0;
    if (rounding == "floor") {
        index = std::floor(source);
    } else if (rounding == "ceil") {
        index = std::ceil(source);
    } else if (rounding == "round_prefer_floor") {
        index = std::ceil(source - 0.5F);
    } else {
        require(rounding == "round_prefer_ceil",
                fmt::format("nearest_mode '{}' is not known", rounding),
                "use floor, ceil, round_prefer_floor or round_prefer_ceil");
        index = std::floor(source + 0.5F);
    }
    return std::clamp<std::int64_t>(to_integer(index), 0, axis.in - 1);
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

/// Cubic convolution along one axis. `a`: its coefficient; `excludes`: elements outside the input
/// have no weight, instead of being those at its ends.
struct Cubic {
    explicit Cubic(const GraphNode& node)
        : a(node.number("cubic_coeff_a", -0.75)),
          excludes(node.integer("exclude_outside", 0) != 0) {}

    double a;
    bool excludes;
};

GraphValue interpolate_cubic(const GraphValue& input, std::size_t axis,
                             const std::vector<float>& sources, const Cubic& cubic) {
    TensorType type = input.type;
    const std::int64_t size = type.sizes[axis];
    type.sizes[axis] = std::ssize(sources);
    const std::size_t inner = steps_of(input.type.sizes)[axis];
    return fill(type, [&](std::size_t i) {
        constexpr float beyond = 2;  // of the ends, where all weights are those of the ends
        const float source = std::clamp(sources[i / inner % sources.size()], -beyond,
                                        static_cast<float>(size) + beyond);
        const auto below = static_cast<std::int64_t>(std::floor(source));
        const std::size_t begin =
            i / inner / sources.size() * unsigned_of(size) * inner + i % inner;
        double sum = 0;
        double weights = 0;
        for (std::int64_t at = below - 1; at <= below + 2; ++at) {
            if (!cubic.excludes || (at >= 0 && at < size)) {
                const double weight =
                    cubic_weight(static_cast<double>(source) - static_cast<double>(at), cubic.a);
                const auto place = unsigned_of(std::clamp<std::int64_t>(at, 0, size - 1));
                sum += weight * input.numbers[begin + place * inner];
                weights += weight;
            }
        }
        return cubic.excludes && weights != 0 ? sum / weights : sum;
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

/// The first of two consecutive axes that are the only scaled or cropped ones; the last such pair.
std::optional<std::size_t> scaled_plane(const std::vector<ResizedAxis>& axes) {
    for (std::size_t second = axes.size(); second-- > 1;) {
        bool others = true;
        for (std::size_t i = 0; i < axes.size(); ++i) {
            others = others && (i == second - 1 || i == second || axes[i].is_whole());
        }
        if (others) {
            return second - 1;
        }
    }
    return std::nullopt;
}

GraphValue interpolate(const GraphValue& input, const std::vector<ResizedAxis>& axes,
                       const std::vector<std::vector<float>>& sources, const GraphNode& node) {
    const Sizes& in = input.type.sizes;
    const bool is_cubic = node.text("mode", "nearest") == "cubic";
    const std::optional<std::size_t> plane = scaled_plane(axes);
    const bool has_elements = std::ranges::all_of(in, [](std::int64_t size) { return size > 0; });
    if (plane && has_elements && !is_cubic && input.type.element == ElementType::Float32) {
        return interpolate_plane(input, *plane, between(sources[*plane], in[*plane]),
                                 between(sources[*plane + 1], in[*plane + 1]));
    }
    GraphValue result = input;
    for (std::size_t axis = 0; axis < sources.size(); ++axis) {
        if (!axes[axis].is_whole() && in[axis] > 0 && !sources[axis].empty()) {
            result = is_cubic ? interpolate_cubic(result, axis, sources[axis], Cubic(node))
                              : interpolate(result, axis, sources[axis]);
        }
    }
    return result;
}

/// Where tf_crop_and_resize takes a place outside the input, the result is a value of the node.
void extrapolate(GraphValue& result, const std::vector<ResizedAxis>& axes, const GraphNode& node) {
    std::vector<std::vector<bool>> outside;
    for (const ResizedAxis& axis : axes) {
        outside.emplace_back();
        for (std::int64_t place = 0; place < axis.out; ++place) {
            const float source = source_of(place, axis, node);
            outside.back().push_back(!(source >= 0 && source <= static_cast<float>(axis.in - 1)));
        }
    }
    const double value = node.number("extrapolation_value", 0);
    Odometer odometer(result.type.sizes);
    for (double& number : result.numbers) {
        for (std::size_t axis = 0; axis < axes.size(); ++axis) {
            number = outside[axis][unsigned_of(odometer.at()[axis])] ? value : number;
        }
        odometer.next();
    }
}

/// The axes that scales, sizes and regions are given for, in their order: all, or those that
/// attribute 'axes' names.
std::vector<std::size_t> given_axes(const Operands& operands) {
    const std::size_t rank = operands.sizes(0).size();
    std::vector<std::size_t> given(rank);
    std::iota(given.begin(), given.end(), std::size_t{0});
    if (!operands.node.has("axes")) {
        return given;
    }
    given.clear();
    for (const std::int64_t axis : operands.node.integers("axes")) {
        given.push_back(axis_index(axis, rank));
        require(std::ranges::count(given, given.back()) == 1,
                fmt::format("its axes name axis {} twice", given.back()), "name every axis once");
    }
    return given;
}

/// Sizes that keep the input's aspect ratio: within those wanted, or at least those.
void keep_aspect_ratio(std::vector<ResizedAxis>& axes, const std::vector<std::size_t>& given,
                       bool larger) {
    double scale = given.empty() ? 1 : axes[given.front()].scale;
    for (const std::size_t axis : given) {
        scale = larger ? std::max(scale, axes[axis].scale) : std::min(scale, axes[axis].scale);
    }
    for (const std::size_t axis : given) {
        axes[axis].scale = scale;
        axes[axis].out = to_integer(std::round(scale * static_cast<double>(axes[axis].in)));
    }
}

/// Takes operand 3, the sizes wanted.
void take_sizes(std::vector<ResizedAxis>& axes, const std::vector<std::size_t>& given,
                const Operands& operands) {
    require(operands.has(3) && operands.at(3).numbers.size() == given.size(),
            "it has neither scales nor sizes", "give one for every axis");
    for (std::size_t i = 0; i < given.size(); ++i) {
        ResizedAxis& axis = axes[given[i]];
        axis.out = to_integer(operands.at(3).numbers[i]);
        require(axis.in > 0 || axis.out == 0, "its input is empty", "give it elements");
        axis.scale =
            axis.in == 0 ? 1 : static_cast<double>(axis.out) / static_cast<double>(axis.in);
    }
    const std::string policy = operands.node.text("keep_aspect_ratio_policy", "stretch");
    require(policy == "stretch" || policy == "not_larger" || policy == "not_smaller",
            fmt::format("keep_aspect_ratio_policy '{}' is not known", policy),
            "stretch, not_larger or not_smaller");
    if (policy != "stretch") {
        keep_aspect_ratio(axes, given, policy == "not_smaller");
    }
}

/// Takes operand 1, the region of tf_crop_and_resize.
void take_region(std::vector<ResizedAxis>& axes, const std::vector<std::size_t>& given,
                 const Operands& operands) {
    require(operands.has(1) && operands.at(1).numbers.size() == 2 * given.size(),
            "it has no region to crop", "give the begin and the end along every axis");
    const auto& region = operands.at(1).numbers;
    require(std::ranges::all_of(region, [](double at) { return std::abs(at) <= farthest; }),
            fmt::format("its region is not within {} times its input", farthest),
            "correct the region");
    for (std::size_t i = 0; i < given.size(); ++i) {
        axes[given[i]].first = static_cast<float>(region[i]);
        axes[given[i]].last = static_cast<float>(region[given.size() + i]);
    }
}

/// Axes of a resize; `scales` or, if it is empty, operand 3 determines the sizes.
std::vector<ResizedAxis> resized_axes(const Operands& operands, const std::vector<double>& scales) {
    const std::vector<std::size_t> given = given_axes(operands);
    std::vector<ResizedAxis> axes;
    for (const std::int64_t size : operands.sizes(0)) {
        axes.push_back({.in = size, .out = size});
    }
    require(scales.empty() || scales.size() == given.size(), "it does not have one scale per axis",
            "give one");
    for (std::size_t i = 0; i < scales.size(); ++i) {
        require(scales[i] > 0, "a scale is not positive", "give positive scales");
        ResizedAxis& axis = axes[given[i]];
        axis.scale = scales[i];
        axis.out = to_integer(std::floor(static_cast<double>(axis.in) * scales[i]));
    }
    if (scales.empty()) {
        take_sizes(axes, given, operands);
    }
    if (transformation_of(operands.node) == "tf_crop_and_resize") {
        take_region(axes, given, operands);
    }
    return axes;
}

/// Nearest neighbour, linear or cubic. Operands of Resize: x, roi, scales, sizes; of Upsample and
/// Resize 10: x, scales.
Values resize(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    const std::string mode = operands.node.text("mode", "nearest");
    require(mode == "nearest" || mode == "linear" || mode == "cubic",
            fmt::format("mode '{}' is not supported", mode), "use 'nearest', 'linear' or 'cubic'");
    require(operands.node.integer("antialias", 0) == 0, "antialiasing is not supported",
            "set antialias to 0");
    const bool old = operands.node.op == "Upsample" || operands.opset < 11;
    const std::size_t scales_at = old ? 1 : 2;
    std::vector<double> scales =
        operands.has(scales_at) ? operands.at(scales_at).numbers : std::vector<double>{};
    if (scales.empty()) {
        scales = operands.node.numbers("scales");
    }
    GraphNode node = operands.node;
    if (old && node.op == "Resize") {
        node.op = "Upsample";
    }
    const std::vector<ResizedAxis> axes = resized_axes(operands, scales);
    Sizes out;
    for (const ResizedAxis& axis : axes) {
        out.push_back(axis.out);
    }
    if (count_elements(out, most_made_elements) == 0) {
        return {zeros({input.type.element, out})};
    }
    GraphValue result;
    if (mode == "nearest") {
        const std::vector<std::size_t> steps = steps_of(operands.sizes(0));
        std::vector<Sizes> places;
        for (const ResizedAxis& axis : axes) {
            places.emplace_back();
            for (std::int64_t place = 0; place < axis.out; ++place) {
                places.back().push_back(nearest(place, axis, node));
            }
        }
        result = pick(input, out, 0, [&](std::vector<std::int64_t> at) {
            for (std::size_t i = 0; i < at.size(); ++i) {
                at[i] = places[i][unsigned_of(at[i])];
            }
            return index_of(at, steps);
        });
    } else {
        std::vector<std::vector<float>> sources;
        for (const ResizedAxis& axis : axes) {
            sources.emplace_back();
            for (std::int64_t place = 0; place < axis.out; ++place) {
                sources.back().push_back(source_of(place, axis, node));
            }
        }
        result = interpolate(input, axes, sources, node);
    }
    if (transformation_of(node) == "tf_crop_and_resize") {
        extrapolate(result, axes, node);
    }
    return {std::move(result)};
}

/// An interpolation makes fractions, a cubic one exceeds the numbers around it; outside is another
/// number.
ValueRange resized_range(const RangeOperands& operands) {
    const GraphNode& node = operands.node;
    const std::string mode = node.text("mode", "nearest");
    const ElementType type = operands.result();
    if (mode == "cubic" || transformation_of(node) == "tf_crop_and_resize") {
        return {!is_float(type), range_of(type), false};
    }
    ValueRange values = operands.at(0);
    values.whole = values.whole && (mode == "nearest" || !is_float(type));
    return values;
}

}  // namespace

std::span<const OperatorRow> resizing_operators() {
    static constexpr std::array rows{
        row("Resize", {1, 4}, resize) |
            attributes(
                "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
                "extrapolation_value keep_aspect_ratio_policy mode nearest_mode") |
            sized_by(2, 3) | ranging(resized_range),
        row("Upsample", {1, 2}, resize) | attributes("mode scales") | sized_by(1) |
            ranging(resized_range)};
    return rows;
}

}  // namespace npuscope::host
