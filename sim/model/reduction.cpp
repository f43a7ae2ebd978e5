// SPDX-License-Identifier: Apache-2.0
// Sums, means and extremes along axes, over windows and over entire planes; Softmax, LogSoftmax,
// ArgMax, ArgMin.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>

#include "sim/model/operator_parts.h"
#include "sim/model/window.h"

namespace npuscope::host {
namespace {

/// Input elements of one window: those inside the input, and their number in the padded input.
struct Taps {
    std::vector<double> inside;
    std::int64_t padded = 0;
};

/// A spatial position: slice, row and column.
using Place = std::array<std::int64_t, 3>;

/// Taps of the window whose first element is at `first`.
Taps taps_of(const Window& window, const double* volume, const Place& first) {
    const WindowAxis depth = window.depth();
    const WindowAxis height = window.height();
    const WindowAxis width = window.width();
    const auto is_inside = [](const WindowAxis& axis, std::int64_t at) {
        return at >= 0 && at < axis.in;
    };
    Taps taps;
    for (std::int64_t i = 0; i < window.kernel_volume(); ++i) {
        const std::int64_t of_area = i % window.kernel_area();
        const std::int64_t slice = first[0] + i / window.kernel_area() * depth.dilation;
        const std::int64_t row = first[1] + of_area / width.kernel * height.dilation;
        const std::int64_t column = first[2] + of_area % width.kernel * width.dilation;
        if (is_inside(depth, slice) && is_inside(height, row) && is_inside(width, column)) {
            taps.inside.push_back(volume[(slice * height.in + row) * width.in + column]);
        }
        taps.padded += slice < depth.in + depth.pad_end && row < height.in + height.pad_end &&
                       column < width.in + width.pad_end;
    }
    return taps;
}

Types pool_types(const Operands& operands) {
    require(operands.node.outputs.size() == 1 || operands.node.outputs[1].empty(),
            "it returns indices as well",
            "remove the indices output; only the pooled values are supported");
    const Sizes& in = operands.sizes(0);
    Sizes out{in.begin(), in.begin() + std::min<std::ptrdiff_t>(2, std::ssize(in))};
    for (const WindowAxis& axis : pool_window(operands.node, in).axes) {
        out.push_back(axis.out);
    }
    return {{operands.element(0), out}};
}

template <class Reduce>
Values pool(const Operands& operands, Reduce reduce) {
    const GraphValue& input = operands.at(0);
    const Window window = pool_window(operands.node, input.type.sizes);
    GraphValue result = zeros(pool_types(operands).front());
    const auto first = [](const WindowAxis& axis, std::int64_t out) {
        return out * axis.stride - axis.pad_begin;
    };
    for (std::int64_t i = 0; i < std::ssize(result.numbers); ++i) {
        const double* volume = input.numbers.data() + i / window.out_volume() * window.in_volume();
        const std::int64_t at = i % window.out_volume();
        const Place place{first(window.depth(), at / window.out_area()),
                          first(window.height(), at % window.out_area() / window.width().out),
                          first(window.width(), at % window.width().out)};
        result.numbers[unsigned_of(i)] = reduce(taps_of(window, volume, place));
    }
    return {std::move(result)};
}

template <class Reduce>
Values global_pool(const Operands& operands, Reduce reduce) {
    const GraphValue& input = operands.at(0);
    const Sizes& in = input.type.sizes;
    require(in.size() >= 3, fmt::format("its input {} has no plane", sizes_text(in)),
            "inputs must be NC..");
    Sizes out(in.size(), 1);
    out[0] = in[0];
    out[1] = in[1];
    const std::size_t plane = steps_of(in)[1];
    return {fill({input.type.element, out}, [&](std::size_t i) {
        const auto begin = input.numbers.begin() + static_cast<std::ptrdiff_t>(i * plane);
        return reduce(std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(plane)));
    })};
}

double largest_of(const std::vector<double>& values) {
    return values.empty() ? -std::numeric_limits<double>::infinity()
                          : *std::max_element(values.begin(), values.end());
}

double sum_of(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

Values max_pool(const Operands& operands) {
    return pool(operands, [](const Taps& taps) { return largest_of(taps.inside); });
}

Values average_pool(const Operands& operands) {
    const bool count_padding = operands.node.integer("count_include_pad", 0) != 0;
    return pool(operands, [count_padding](const Taps& taps) {
        const std::int64_t count =
            count_padding ? taps.padded : static_cast<std::int64_t>(taps.inside.size());
        return count == 0 ? 0.0 : sum_of(taps.inside) / static_cast<double>(count);
    });
}

Values global_max_pool(const Operands& operands) { return global_pool(operands, largest_of); }

Values global_average_pool(const Operands& operands) {
    return global_pool(operands, [](const std::vector<double>& values) {
        return sum_of(values) / static_cast<double>(values.size());
    });
}

/// Axes from the second operand or the attribute; none: all of them.
std::vector<bool> reduced_axes(const Operands& operands) {
    const std::size_t rank = operands.sizes(0).size();
    const std::vector<std::int64_t> axes = listed(operands, 1, "axes");
    const bool keep_all = operands.node.integer("noop_with_empty_axes", 0) != 0;
    std::vector<bool> reduced(rank, axes.empty() && !keep_all);
    for (const std::int64_t axis : axes) {
        reduced[axis_index(axis, rank)] = true;
    }
    return reduced;
}

template <class Combine>
GraphValue reduced(const Operands& operands, double start, Combine combine) {
    const GraphValue& input = operands.at(0);
    const std::vector<bool> gone = reduced_axes(operands);
    const bool keep = operands.node.integer("keepdims", 1) != 0;
    Sizes kept = input.type.sizes;
    Sizes out;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        kept[i] = gone[i] ? 1 : kept[i];
        if (!gone[i] || keep) {
            out.push_back(kept[i]);
        }
    }
    GraphValue result = zeros({input.type.element, out});
    std::fill(result.numbers.begin(), result.numbers.end(), start);
    const std::vector<std::size_t> steps = steps_of(kept);
    Odometer odometer(input.type.sizes);
    for (const double number : input.numbers) {
        std::size_t index = 0;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            index += gone[i] ? 0 : steps[i] * static_cast<std::size_t>(odometer.at()[i]);
        }
        result.numbers[index] = combine(result.numbers[index], number);
        odometer.next();
    }
    return result;
}

Values reduce_sum(const Operands& operands) { return {reduced(operands, 0.0, std::plus<>{})}; }

Values reduce_mean(const Operands& operands) {
    GraphValue result = reduce_sum(operands).front();
    const double count = static_cast<double>(operands.at(0).numbers.size()) /
                         static_cast<double>(std::max<std::size_t>(result.numbers.size(), 1));
    for (double& number : result.numbers) {
        number /= count;
    }
    return {std::move(result)};
}

/// Applies `finish` to the sum of `part` over all values.
template <class Part, class Finish>
Values reduce_parts(const Operands& operands, Part part, Finish finish) {
    GraphValue result =
        reduced(operands, 0.0, [part](double sum, double number) { return sum + part(number); });
    std::ranges::transform(result.numbers, result.numbers.begin(), finish);
    return {std::move(result)};
}
double itself(double number) { return number; }
double square_of(double number) { return number * number; }
double size_of(double number) { return std::abs(number); }
double root_of(double number) { return std::sqrt(number); }
double exponential_of(double number) { return std::exp(number); }
double logarithm_of(double number) { return std::log(number); }

template <double (*part)(double), double (*finish)(double)>
Values reduce_by(const Operands& operands) {
    return reduce_parts(operands, part, finish);
}
Values reduce_product(const Operands& operands) {
    return {reduced(operands, 1.0, std::multiplies<>{})};
}

Values reduce_max(const Operands& operands) {
    return {reduced(operands, range_of(operands.element(0)).low,
                    [](double a, double b) { return std::max(a, b); })};
}

Values reduce_min(const Operands& operands) {
    return {reduced(operands, range_of(operands.element(0)).high,
                    [](double a, double b) { return std::min(a, b); })};
}

/// Rows are along one axis from opset 13 on, before that along all axes from that one on. Values
/// become their exponentials divided by the sum, or the logarithm of that.
template <bool logarithm>
Values softmax(const Operands& operands) {
    GraphValue result = operands.at(0);
    const Sizes& sizes = result.type.sizes;
    require(!sizes.empty(), "its input is a scalar", "it needs at least one dimension");
    const bool one_axis = operands.opset >= 13;
    const std::size_t axis =
        axis_index(operands.node.integer("axis", one_axis ? -1 : 1), sizes.size());
    const std::size_t inner = steps_of(sizes)[axis];
    const std::size_t step = one_axis ? inner : 1;
    const std::size_t length = unsigned_of(sizes[axis]) * (one_axis ? 1 : inner);
    for (std::size_t first = 0; first < result.numbers.size(); ++first) {
        if (first / step % length != 0) {
            continue;
        }
        double* row = result.numbers.data() + first;
        double largest = row[0];
        for (std::size_t i = 0; i < length; ++i) {
            largest = std::max(largest, row[i * step]);
        }
        double sum = 0;
        for (std::size_t i = 0; i < length; ++i) {
            sum += std::exp(row[i * step] - largest);
        }
        for (std::size_t i = 0; i < length; ++i) {
            const double shifted = row[i * step] - largest;
            row[i * step] = logarithm ? shifted - std::log(sum) : std::exp(shifted) / sum;
        }
    }
    return {std::move(result)};
}

/// Position of the largest or smallest value.
template <bool largest>
Values arg_extreme(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    const std::size_t axis = axis_index(operands.node.integer("axis", 0), input.type.sizes.size());
    const bool last_wins = operands.node.integer("select_last_index", 0) != 0;
    const std::size_t step = steps_of(input.type.sizes)[axis];
    const auto length = static_cast<std::size_t>(input.type.sizes[axis]);
    Sizes out = input.type.sizes;
    out[axis] = 1;
    if (operands.node.integer("keepdims", 1) == 0) {
        out.erase(out.begin() + static_cast<std::ptrdiff_t>(axis));
    }
    return {fill({ElementType::Int64, out}, [&](std::size_t i) {
        const double* row = input.numbers.data() + i / step * step * length + i % step;
        std::size_t best = 0;
        for (std::size_t k = 1; k < length; ++k) {
            const double number = row[k * step];
            const double before = row[best * step];
            if ((largest ? number > before : number < before) || (last_wins && number == before)) {
                best = k;
            }
        }
        return static_cast<double>(best);
    })};
}

constexpr OperatorRow reduction(std::string_view op, Evaluate evaluate, Range range = nullptr) {
    return {.op = op,
            .inputs = {1, 2},
            .evaluate = evaluate,
            .attributes = "axes keepdims noop_with_empty_axes",
            .sizing = operand(1),
            .range = range};
}
constexpr OperatorRow normalisation(std::string_view op, Evaluate evaluate) {
    return {.op = op,
            .inputs = {1, 1},
            .types = TypeRule::Float,
            .evaluate = evaluate,
            .infer = own_type,
            .attributes = "axis"};
}

// operands: map, scale, bias
Values layer_normalise(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    const std::size_t axis = axis_index(operands.node.integer("axis", -1), input.type.sizes.size());
    const std::size_t size =
        axis == 0 ? input.numbers.size() : steps_of(input.type.sizes)[axis - 1];
    const auto fits = [&](std::size_t operand) {
        return !operands.has(operand) || operands.at(operand).numbers.size() == size;
    };
    require(fits(1) && fits(2), "its scale or bias does not match the normalised dimensions",
            "give one number for each");
    const double epsilon = operands.node.number("epsilon", 1e-5);
    GraphValue result = input;
    for (std::size_t begin = 0; begin < result.numbers.size(); begin += size) {
        const auto numbers = std::span(result.numbers).subspan(begin, size);
        const double count = static_cast<double>(size);
        const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / count;
        double variance = 0;
        for (const double number : numbers) {
            variance += (number - mean) * (number - mean) / count;
        }
        for (std::size_t i = 0; i < size; ++i) {
            const double bias = operands.has(2) ? operands.at(2).numbers[i] : 0.0;
            numbers[i] =
                (numbers[i] - mean) / std::sqrt(variance + epsilon) * operands.at(1).numbers[i] +
                bias;
        }
    }
    return {result};
}

constexpr std::array rows{
    reduction("ReduceSum", reduce_sum),
    reduction("ReduceMean", reduce_mean),
    reduction("ReduceMax", reduce_max, range_of_first),
    reduction("ReduceMin", reduce_min, range_of_first),
    reduction("ReduceProd", reduce_product),
    reduction("ReduceL1", reduce_by<size_of, itself>),
    reduction("ReduceL2", reduce_by<square_of, root_of>),
    reduction("ReduceSumSquare", reduce_by<square_of, itself>),
    reduction("ReduceLogSum", reduce_by<itself, logarithm_of>),
    reduction("ReduceLogSumExp", reduce_by<exponential_of, logarithm_of>),
    normalisation("Softmax", softmax<false>),
    normalisation("LogSoftmax", softmax<true>),
    OperatorRow{.op = "LayerNormalization",
                .inputs = {2, 3},
                .types = TypeRule::Float,
                .evaluate = layer_normalise,
                .infer = own_type,
                .attributes = "axis epsilon stash_type"},
    OperatorRow{.op = "ArgMax",
                .inputs = {1, 1},
                .types = TypeRule::Same,
                .evaluate = arg_extreme<true>,
                .attributes = "axis keepdims select_last_index"},
    OperatorRow{.op = "ArgMin",
                .inputs = {1, 1},
                .types = TypeRule::Same,
                .evaluate = arg_extreme<false>,
                .attributes = "axis keepdims select_last_index"},
    OperatorRow{
        .op = "MaxPool",
        .inputs = {1, 1},
        .types = TypeRule::Same,
        .evaluate = max_pool,
        .infer = pool_types,
        .attributes = "auto_pad ceil_mode dilations kernel_shape pads storage_order strides",
        .range = range_of_first,
        .moves = true},
    OperatorRow{
        .op = "AveragePool",
        .inputs = {1, 1},
        .types = TypeRule::Float,
        .evaluate = average_pool,
        .infer = pool_types,
        .attributes = "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    OperatorRow{.op = "GlobalMaxPool",
                .inputs = {1, 1},
                .types = TypeRule::Float,
                .evaluate = global_max_pool,
                .range = range_of_first},
    OperatorRow{.op = "GlobalAveragePool",
                .inputs = {1, 1},
                .types = TypeRule::Float,
                .evaluate = global_average_pool}};

}  // namespace

std::span<const OperatorRow> reduction_operators() { return rows; }

}  // namespace npuscope::host
