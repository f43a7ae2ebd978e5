// SPDX-License-Identifier: Apache-2.0
// Sums, means and extremes along axes; Softmax, LogSoftmax, ArgMax.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

/// Axes from the second operand or the attribute; none: all of them.
std::vector<bool> reduced_axes(const Operands& operands) {
    const std::size_t rank = operands.sizes(0).size();
    std::vector<std::int64_t> axes = operands.node.integers("axes");
    if (operands.has(1)) {
        axes = integers_of(operands.at(1));
    }
    const bool keep_all = operands.node.integer("noop_with_empty_axes", 0) != 0;
    std::vector<bool> reduced(rank, axes.empty() && !keep_all);
    for (const std::int64_t axis : axes) {
        reduced[axis_index(axis, rank)] = true;
    }
    return reduced;
}

template <class Combine>
GraphValue reduce(const Operands& operands, double start, Combine combine) {
    const GraphValue& input = operands.at(0);
    const std::vector<bool> reduced = reduced_axes(operands);
    const bool keep = operands.node.integer("keepdims", 1) != 0;
    Sizes kept = input.type.sizes;
    Sizes out;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        kept[i] = reduced[i] ? 1 : kept[i];
        if (!reduced[i] || keep) {
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
            index += reduced[i] ? 0 : steps[i] * static_cast<std::size_t>(odometer.at()[i]);
        }
        result.numbers[index] = combine(result.numbers[index], number);
        odometer.next();
    }
    return result;
}

GraphValue sums_along(const Operands& operands) {
    return reduce(operands, 0.0, [](double a, double b) { return a + b; });
}

/// Applies `change` to every row along the axis of Softmax: from opset 13 on one axis, before that
/// all from that axis on.
template <class Change>
GraphValue by_rows(const Operands& operands, Change change) {
    GraphValue result = operands.at(0);
    const Sizes& sizes = result.type.sizes;
    require(!sizes.empty(), "its input is a scalar", "it needs at least one direction");
    const bool one_axis = operands.opset >= 13;
    const std::size_t axis =
        axis_index(operands.node.integer("axis", one_axis ? -1 : 1), sizes.size());
    const std::size_t step = one_axis ? steps_of(sizes)[axis] : 1;
    const std::size_t length = one_axis
                                   ? static_cast<std::size_t>(sizes[axis])
                                   : steps_of(sizes)[axis] * static_cast<std::size_t>(sizes[axis]);
    for (std::size_t first = 0; first < result.numbers.size(); ++first) {
        if (first / step % length == 0) {
            change(result.numbers.data() + first, step, length);
        }
    }
    return result;
}

/// Numbers of a row, step apart, become their exponentials over the sum, or the logarithm of that.
void normalise_row(double* row, std::size_t step, std::size_t length, bool logarithm) {
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

Values reduce_sum(const Operands& operands) { return {sums_along(operands)}; }

Values reduce_mean(const Operands& operands) {
    GraphValue result = sums_along(operands);
    const double count = static_cast<double>(operands.at(0).numbers.size()) /
                         static_cast<double>(std::max<std::size_t>(result.numbers.size(), 1));
    for (double& number : result.numbers) {
        number /= count;
    }
    return {std::move(result)};
}

Values reduce_max(const Operands& operands) {
    return {reduce(operands, range_of(operands.element(0)).low,
                   [](double a, double b) { return std::max(a, b); })};
}

Values reduce_min(const Operands& operands) {
    return {reduce(operands, range_of(operands.element(0)).high,
                   [](double a, double b) { return std::min(a, b); })};
}

Values softmax(const Operands& operands) {
    return {by_rows(operands, [](double* row, std::size_t step, std::size_t length) {
        normalise_row(row, step, length, false);
    })};
}

Values log_softmax(const Operands& operands) {
    return {by_rows(operands, [](double* row, std::size_t step, std::size_t length) {
        normalise_row(row, step, length, true);
    })};
}

Values arg_max(const Operands& operands) {
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
            if (number > row[best * step] || (last_wins && number == row[best * step])) {
                best = k;
            }
        }
        return static_cast<double>(best);
    })};
}

constexpr std::array rows{OperatorRow{.op = "ReduceSum",
                                      .least = 1,
                                      .most = 2,
                                      .evaluate = reduce_sum,
                                      .attributes = reduce_attributes,
                                      .sizing = operand(1)},
                          OperatorRow{.op = "ReduceMean",
                                      .least = 1,
                                      .most = 2,
                                      .evaluate = reduce_mean,
                                      .attributes = reduce_attributes,
                                      .sizing = operand(1)},
                          OperatorRow{.op = "ReduceMax",
                                      .least = 1,
                                      .most = 2,
                                      .evaluate = reduce_max,
                                      .attributes = reduce_attributes,
                                      .sizing = operand(1),
                                      .range = range_of_first},
                          OperatorRow{.op = "ReduceMin",
                                      .least = 1,
                                      .most = 2,
                                      .evaluate = reduce_min,
                                      .attributes = reduce_attributes,
                                      .sizing = operand(1),
                                      .range = range_of_first},
                          OperatorRow{.op = "Softmax",
                                      .least = 1,
                                      .most = 1,
                                      .types = TypeRule::Float,
                                      .evaluate = softmax,
                                      .infer = own_type,
                                      .attributes = "axis"},
                          OperatorRow{.op = "LogSoftmax",
                                      .least = 1,
                                      .most = 1,
                                      .types = TypeRule::Float,
                                      .evaluate = log_softmax,
                                      .infer = own_type,
                                      .attributes = "axis"},
                          OperatorRow{.op = "ArgMax",
                                      .least = 1,
                                      .most = 1,
                                      .types = TypeRule::Same,
                                      .evaluate = arg_max,
                                      .attributes = "axis keepdims select_last_index"}};

}  // namespace

std::span<const OperatorRow> reduction_operators() { return rows; }

}  // namespace npuscope::host
