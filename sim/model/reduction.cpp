// SPDX-License-Identifier: Apache-2.0
// Sums, means and extremes along axes; Softmax, LogSoftmax, Hardmax, ArgMax, ArgMin.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

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
double logarithm_of(double number) { return std::log(number); }

template <double (*part)(double), double (*finish)(double)>
Values reduce_by(const Operands& operands) {
    return reduce_parts(operands, part, finish);
}

/// ln(e^a + e^b), also where those exceed all numbers.
double logarithm_of_sum(double a, double b) {
    return a == b ? a + std::numbers::ln2 : std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}
Values reduce_exponentials(const Operands& operands) {
    return {reduced(operands, -std::numeric_limits<double>::infinity(), logarithm_of_sum)};
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

/// Rows are along one axis from opset 13 on, before that along all axes from that one on.
template <class Change>
Values change_rows(const Operands& operands, Change change) {
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
        if (first / step % length == 0) {
            change(result.numbers.data() + first, step, length);
        }
    }
    return {std::move(result)};
}

/// The first of the largest numbers of a row.
std::size_t place_of_largest(const double* row, std::size_t step, std::size_t length) {
    std::size_t place = 0;
    for (std::size_t i = 1; i < length; ++i) {
        place = row[i * step] > row[place * step] ? i : place;
    }
    return place;
}

/// Numbers become their exponentials divided by the sum, or the logarithm of that.
template <bool logarithm>
void take_softmax(double* row, std::size_t step, std::size_t length) {
    const double largest = row[place_of_largest(row, step, length) * step];
    double sum = 0;
    for (std::size_t i = 0; i < length; ++i) {
        sum += std::exp(row[i * step] - largest);
    }
    for (std::size_t i = 0; i < length; ++i) {
        const double shifted = row[i * step] - largest;
        row[i * step] = logarithm ? shifted - std::log(sum) : std::exp(shifted) / sum;
    }
}
template <bool logarithm>
Values softmax(const Operands& operands) {
    return change_rows(operands, take_softmax<logarithm>);
}

/// The largest value becomes 1, the others 0.
Values hardmax(const Operands& operands) {
    return change_rows(operands, [](double* row, std::size_t step, std::size_t length) {
        const std::size_t place = place_of_largest(row, step, length);
        for (std::size_t i = 0; i < length; ++i) {
            row[i * step] = i == place ? 1 : 0;
        }
    });
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

constexpr OperatorRow reduction(std::string_view op, Evaluate evaluate) {
    return row(op, {1, 2}, evaluate) | attributes("axes keepdims noop_with_empty_axes") |
           sized_by(1);
}
constexpr OperatorRow normalisation(std::string_view op, Evaluate evaluate) {
    return row(op, {1, 1}, evaluate) | float_types | inferring(own_type) | attributes("axis");
}

}  // namespace

void take_log_softmax(double* row, std::size_t step, std::size_t length) {
    take_softmax<true>(row, step, length);
}

std::span<const OperatorRow> reduction_operators() {
    static constexpr std::array rows{reduction("ReduceSum", reduce_sum),
                                     reduction("ReduceMean", reduce_mean),
                                     reduction("ReduceMax", reduce_max) | first_range,
                                     reduction("ReduceMin", reduce_min) | first_range,
                                     reduction("ReduceProd", reduce_product),
                                     reduction("ReduceL1", reduce_by<size_of, itself>),
                                     reduction("ReduceL2", reduce_by<square_of, root_of>),
                                     reduction("ReduceSumSquare", reduce_by<square_of, itself>),
                                     reduction("ReduceLogSum", reduce_by<itself, logarithm_of>),
                                     reduction("ReduceLogSumExp", reduce_exponentials),
                                     normalisation("Softmax", softmax<false>),
                                     normalisation("LogSoftmax", softmax<true>),
                                     normalisation("Hardmax", hardmax),
                                     row("ArgMax", {1, 1}, arg_extreme<true>) | same_types |
                                         attributes("axis keepdims select_last_index"),
                                     row("ArgMin", {1, 1}, arg_extreme<false>) | same_types |
                                         attributes("axis keepdims select_last_index")};
    return rows;
}

}  // namespace npuscope::host
