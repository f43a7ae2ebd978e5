// SPDX-License-Identifier: Apache-2.0
// Operators that repeat, order or look up elements along an axis, and running sums.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

Values tile(const Operands& operands) {
    const Sizes& in = operands.sizes(0);
    const std::vector<std::int64_t> repeats = integers_of(operands.at(1));
    require(repeats.size() == in.size(), "its repeats have a wrong length",
            "give one for every axis");
    Sizes out = in;
    for (std::size_t i = 0; i < out.size(); ++i) {
        require(repeats[i] >= 0 && repeats[i] <= most_elements,
                fmt::format("{} is not a valid repeat count", repeats[i]),
                "repeats must be 0 or more");
        out[i] *= repeats[i];
    }
    const std::vector<std::size_t> steps = steps_of(in);
    return {pick(operands.at(0), out, 0, [&](std::vector<std::int64_t> at) {
        for (std::size_t i = 0; i < at.size(); ++i) {
            at[i] %= in[i];
        }
        return index_of(at, steps);
    })};
}

/// The elements of a tensor along one axis: start of each row, and stride between elements.
struct Rows {
    explicit Rows(const Sizes& sizes, std::size_t axis)
        : step(steps_of(sizes)[axis]),
          length(unsigned_of(sizes[axis])),
          count(count_elements(sizes) / std::max<std::size_t>(length, 1)) {}

    std::size_t begin(std::size_t row) const { return row / step * step * length + row % step; }

    std::size_t step;
    std::size_t length;
    std::size_t count;
};

Values cumulative_sum(const Operands& operands) {
    GraphValue result = operands.at(0);
    const auto axis = static_cast<std::int64_t>(scalar_of(operands.at(1), "axis"));
    const Rows rows(result.type.sizes, axis_index(axis, result.type.sizes.size()));
    const bool exclusive = operands.node.integer("exclusive", 0) != 0;
    const bool reverse = operands.node.integer("reverse", 0) != 0;
    for (std::size_t row = 0; row < rows.count; ++row) {
        double sum = 0;
        for (std::size_t k = 0; k < rows.length; ++k) {
            const std::size_t place = reverse ? rows.length - 1 - k : k;
            double& number = result.numbers[rows.begin(row) + place * rows.step];
            const double own = number;
            number = exclusive ? sum : sum + own;
            sum += own;
        }
    }
    return {std::move(result)};
}

/// The largest or smallest along an axis, and their indices; the first of equal ones.
Values top_k(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    const Sizes& in = input.type.sizes;
    const std::size_t axis = axis_index(operands.node.integer("axis", -1), in.size());
    const std::int64_t wanted = operands.has(1) ? to_integer(scalar_of(operands.at(1), "K"))
                                                : operands.node.integer("k", 0);
    require(wanted >= 0 && wanted <= in[axis],
            fmt::format("K is {}, but the size of the axis is {}", wanted, in[axis]),
            "K must be 0 to the size of the axis");
    Sizes out = in;
    out[axis] = wanted;
    Values results{zeros({input.type.element, out}), zeros({ElementType::Int64, out})};
    const bool largest = operands.node.integer("largest", 1) != 0;
    const Rows from(in, axis);
    const Rows to(out, axis);
    std::vector<std::size_t> order(from.length);
    for (std::size_t row = 0; row < from.count && wanted > 0; ++row) {
        const double* numbers = input.numbers.data() + from.begin(row);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
            const double one = numbers[a * from.step];
            const double other = numbers[b * from.step];
            return largest ? one > other : one < other;
        });
        for (std::size_t k = 0; k < to.length; ++k) {
            const std::size_t place = to.begin(row) + k * to.step;
            results[0].numbers[place] = numbers[order[k] * from.step];
            results[1].numbers[place] = static_cast<double>(order[k]);
        }
    }
    return results;
}

Values gather_elements(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    const GraphValue& indices = operands.at(1);
    const Sizes& in = input.type.sizes;
    require(indices.type.sizes.size() == in.size(), "its indices have another rank than its input",
            "give indices of the same rank as the input");
    const std::size_t axis = axis_index(operands.node.integer("axis", 0), in.size());
    check_list(indices.type.sizes, in, axis);
    const std::vector<std::size_t> steps = steps_of(in);
    std::size_t next = 0;
    return {pick(input, indices.type.sizes, 0, [&](std::vector<std::int64_t> at) {
        at[axis] = static_cast<std::int64_t>(place_of(indices.numbers[next++], in[axis]));
        return index_of(at, steps);
    })};
}

}  // namespace

std::span<const OperatorRow> selecting_operators() {
    static constexpr std::array rows{
        row("Tile", {2, 2}, tile) | sized_by(1) | moves,
        row("CumSum", {2, 2}, cumulative_sum) | attributes("exclusive reverse") | sized_by(1),
        row("TopK", {1, 2}, top_k) | attributes("axis k largest sorted") | sized_by(1),
        row("GatherElements", {2, 2}, gather_elements) | attributes("axis") | first_range};
    return rows;
}

}  // namespace npuscope::host
