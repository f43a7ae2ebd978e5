// SPDX-License-Identifier: Apache-2.0
// Operators that read or write elements, or slices, at positions that another operand lists.
// source: ONNX operator definitions, opset 7 to 24
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/model/operator_parts.h"

namespace npuscope::host {

std::size_t place_of(double number, std::int64_t size) {
    const std::int64_t index = to_integer(number);
    require(index >= -size && index < size, fmt::format("index {} does not exist", index),
            size == 0 ? "the axis is empty" : fmt::format("indices are {} to {}", -size, size - 1));
    return unsigned_of(index < 0 ? index + size : index);
}

void check_list(const Sizes& list, const Sizes& data, std::size_t axis) {
    for (std::size_t i = 0; i < data.size(); ++i) {
        require(i == axis || list[i] <= data[i], "its indices reach beyond the input",
                "take fewer");
    }
}

namespace {

using Combine = double (*)(double, double);

/// How attribute 'reduction' combines an element with one that is written over it.
Combine combine_of(const GraphNode& node) {
    const std::string name = node.text("reduction", "none");
    if (name == "add") {
        return [](double a, double b) { return a + b; };
    }
    if (name == "mul") {
        return [](double a, double b) { return a * b; };
    }
    if (name == "max") {
        return [](double a, double b) { return std::max(a, b); };
    }
    if (name == "min") {
        return [](double a, double b) { return std::min(a, b); };
    }
    require(name == "none", fmt::format("reduction '{}' is not known", name),
            "none, add, mul, max or min");
    return [](double /*a*/, double b) { return b; };
}

void check_same_element(const Operands& operands, std::size_t index) {
    require(operands.element(index) == operands.element(0),
            fmt::format("its inputs have types {} and {}", enum_name(operands.element(0)),
                        enum_name(operands.element(index))),
            "both must have the same type: cast one of them");
}

/// Slices of the first operand, listed by tuples along the last axis of the second.
struct Slices {
    explicit Slices(const Operands& operands, std::int64_t batch_axes)
        : data(operands.sizes(0)), list(operands.sizes(1)), batches(unsigned_of(batch_axes)) {
        require(!data.empty() && !list.empty(), "its input or its indices are a scalar",
                "both must have at least one dimension");
        require(batch_axes >= 0 && batches < std::min(data.size(), list.size()) &&
                    std::equal(data.begin(), data.begin() + batch_axes, list.begin()),
                fmt::format("{} and {} do not have {} batch dimensions", sizes_text(data),
                            sizes_text(list), batch_axes),
                "correct attribute 'batch_dims'");
        width = unsigned_of(list.back());
        require(width >= 1 && width <= data.size() - batches,
                fmt::format("its indices have {} numbers each", width),
                fmt::format("give 1 to {}", data.size() - batches));
        steps = steps_of(data);
        inner = steps[batches + width - 1];
        count = count_elements({list.begin(), list.end() - 1});
        per_batch =
            std::max<std::size_t>(count_elements({list.begin() + batch_axes, list.end() - 1}), 1);
    }

    /// All sizes of the slices, in the order of the indices.
    Sizes sizes() const {
        Sizes all(list.begin(), list.end() - 1);
        const auto first = static_cast<std::ptrdiff_t>(batches + width);
        all.insert(all.end(), data.begin() + first, data.end());
        return all;
    }
    /// First element of a slice.
    std::size_t begin(const GraphValue& indices, std::size_t slice) const {
        std::size_t place = batches == 0 ? 0 : slice / per_batch * steps[batches - 1];
        for (std::size_t i = 0; i < width; ++i) {
            place += place_of(indices.numbers[slice * width + i], data[batches + i]) *
                     steps[batches + i];
        }
        return place;
    }

    const Sizes& data;
    const Sizes& list;
    std::size_t batches;    ///< leading dimensions that both have
    std::size_t width = 0;  ///< numbers of a tuple
    std::vector<std::size_t> steps{};
    std::size_t inner = 0;  ///< elements of a slice
    std::size_t count = 0;  ///< of slices
    std::size_t per_batch = 0;
};

Types gather_slices_types(const Operands& operands) {
    const Slices slices(operands, operands.node.integer("batch_dims", 0));
    return {{operands.element(0), slices.sizes()}};
}
Values gather_slices(const Operands& operands) {
    const Slices slices(operands, operands.node.integer("batch_dims", 0));
    GraphValue result = zeros(gather_slices_types(operands).front());
    auto to = result.numbers.begin();
    for (std::size_t i = 0; i < slices.count && slices.inner > 0; ++i) {
        const std::size_t begin = slices.begin(operands.at(1), i);
        to = std::copy_n(operands.at(0).numbers.begin() + static_cast<std::ptrdiff_t>(begin),
                         slices.inner, to);
    }
    return {std::move(result)};
}

// operands: data, indices, updates
Types scatter_slices_types(const Operands& operands) {
    const Slices slices(operands, 0);
    check_same_element(operands, 2);
    require(operands.sizes(2) == slices.sizes(),
            fmt::format("its updates are {}, but its indices need {}",
                        sizes_text(operands.sizes(2)), sizes_text(slices.sizes())),
            "give one slice for each index");
    combine_of(operands.node);
    return {operands.at(0).type};
}
Values scatter_slices(const Operands& operands) {
    scatter_slices_types(operands);
    const Slices slices(operands, 0);
    const Combine combine = combine_of(operands.node);
    GraphValue result = operands.at(0);
    for (std::size_t i = 0; i < slices.count && slices.inner > 0; ++i) {
        const std::size_t begin = slices.begin(operands.at(1), i);
        for (std::size_t k = 0; k < slices.inner; ++k) {
            double& number = result.numbers[begin + k];
            number = combine(number, operands.at(2).numbers[i * slices.inner + k]);
        }
    }
    return {std::move(result)};
}

Types scatter_elements_types(const Operands& operands) {
    const Sizes& data = operands.sizes(0);
    const Sizes& list = operands.sizes(1);
    const std::size_t axis = axis_index(operands.node.integer("axis", 0), data.size());
    check_same_element(operands, 2);
    require(list.size() == data.size() && operands.sizes(2) == list,
            fmt::format("its input is {}, its indices {}, its updates {}", sizes_text(data),
                        sizes_text(list), sizes_text(operands.sizes(2))),
            "all must have the same rank, indices and updates the same sizes");
    check_list(list, data, axis);
    combine_of(operands.node);
    return {operands.at(0).type};
}
Values scatter_elements(const Operands& operands) {
    scatter_elements_types(operands);
    const Combine combine = combine_of(operands.node);
    GraphValue result = operands.at(0);
    const Sizes& data = operands.sizes(0);
    const std::size_t axis = axis_index(operands.node.integer("axis", 0), data.size());
    const std::vector<std::size_t> steps = steps_of(data);
    Odometer odometer(operands.sizes(1));
    for (std::size_t i = 0; i < operands.at(1).numbers.size(); ++i) {
        std::vector<std::int64_t> at = odometer.at();
        at[axis] = static_cast<std::int64_t>(place_of(operands.at(1).numbers[i], data[axis]));
        double& number = result.numbers[unsigned_of(index_of(at, steps))];
        number = combine(number, operands.at(2).numbers[i]);
        odometer.next();
    }
    return {std::move(result)};
}

ValueRange scattered_range(const RangeOperands& operands) {
    if (operands.node.text("reduction", "none") != "none") {
        return {!is_float(operands.result()), range_of(operands.result()), false};
    }
    const ValueRange &data = operands.at(0), &updates = operands.at(2);
    return {data.whole && updates.whole, join_ranges(data.range, updates.range),
            data.assumed || updates.assumed};
}

// operands: indices, depth, values off and on
Types one_hot_types(const Operands& operands) {
    const Sizes& in = operands.sizes(0);
    const std::int64_t depth = to_integer(scalar_of(operands.at(1), "depth"));
    require(depth >= 0 && depth <= most_elements, fmt::format("{} is not a valid depth", depth),
            fmt::format("it must be 0 to {}", most_elements));
    require(operands.sizes(2) == Sizes{2}, "its values are not two numbers", "give off and on");
    Sizes out = in;
    const std::size_t axis = axis_index(operands.node.integer("axis", -1), in.size() + 1);
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(axis), depth);
    return {{operands.element(2), out}};
}
Values one_hot(const Operands& operands) {
    GraphValue result = zeros(one_hot_types(operands).front());
    const Sizes& out = result.type.sizes;
    const std::size_t axis = axis_index(operands.node.integer("axis", -1), out.size());
    const double off = operands.at(2).numbers[0];
    const double on = operands.at(2).numbers[1];
    std::ranges::fill(result.numbers, off);
    const std::int64_t depth = out[axis];
    const std::size_t step = steps_of(out)[axis];
    const auto& indices = operands.at(0).numbers;
    for (std::size_t i = 0; i < indices.size(); ++i) {
        const std::int64_t index = to_integer(indices[i]);
        if (index >= -depth && index < depth) {  // all others: only off
            const std::size_t place = unsigned_of(index < 0 ? index + depth : index);
            result.numbers[(i / step * unsigned_of(depth) + place) * step + i % step] = on;
        }
    }
    return {std::move(result)};
}

// operands: data, lengths
Types reverse_types(const Operands& operands) {
    const Sizes& in = operands.sizes(0);
    const std::int64_t time = operands.node.integer("time_axis", 0);
    const std::int64_t batch = operands.node.integer("batch_axis", 1);
    require(in.size() >= 2 && std::min(time, batch) == 0 && std::max(time, batch) == 1,
            fmt::format("its axes {} and {} are not the first two", time, batch),
            "attributes 'time_axis' and 'batch_axis' must be 0 and 1, or 1 and 0");
    require(operands.sizes(1) == Sizes{in[unsigned_of(batch)]},
            fmt::format("{} lengths for {} sequences", sizes_text(operands.sizes(1)),
                        in[unsigned_of(batch)]),
            "give one per sequence");
    return {operands.at(0).type};
}
/// The first elements of each sequence, as many as its length, in reverse order.
Values reverse_sequences(const Operands& operands) {
    reverse_types(operands);
    const GraphValue& input = operands.at(0);
    const Sizes& in = input.type.sizes;
    const std::size_t time = unsigned_of(operands.node.integer("time_axis", 0));
    const std::vector<std::int64_t> lengths = integers_of(operands.at(1));
    for (const std::int64_t length : lengths) {
        require(length >= 0 && length <= in[time],
                fmt::format("a sequence of {} is longer than its input of {}", length, in[time]),
                "take shorter ones");
    }
    const std::vector<std::size_t> steps = steps_of(in);
    return {pick(input, in, 0, [&](std::vector<std::int64_t> at) {
        const std::int64_t length = lengths[unsigned_of(at[1 - time])];
        at[time] = at[time] < length ? length - 1 - at[time] : at[time];
        return index_of(at, steps);
    })};
}

constexpr OperatorRow scatter(std::string_view op, Evaluate evaluate, Infer infer) {
    return row(op, {3, 3}, evaluate) | inferring(infer) | ranging(scattered_range);
}

}  // namespace

std::span<const OperatorRow> scattering_operators() {
    static constexpr std::array rows{
        row("GatherND", {2, 2}, gather_slices) | inferring(gather_slices_types) |
            attributes("batch_dims") | first_range,
        scatter("ScatterND", scatter_slices, scatter_slices_types) | attributes("reduction"),
        scatter("ScatterElements", scatter_elements, scatter_elements_types) |
            attributes("axis reduction"),
        scatter("Scatter", scatter_elements, scatter_elements_types) | attributes("axis"),
        row("OneHot", {3, 3}, one_hot) | inferring(one_hot_types) | attributes("axis") |
            sized_by(1),
        row("ReverseSequence", {2, 2}, reverse_sequences) | inferring(reverse_types) |
            attributes("batch_axis time_axis") | first_range};
    return rows;
}

}  // namespace npuscope::host
