// SPDX-License-Identifier: Apache-2.0
// Operators that change a tensor's sizes and keep its elements in order, and those that create
// tensors from sizes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

Values resized(const GraphValue& input, Sizes sizes) {
    require(count_elements(sizes) == count_elements(input.type.sizes),
            fmt::format("{} does not have as many elements as {}", sizes_text(sizes),
                        sizes_text(input.type.sizes)),
            "a reshape must keep the number of elements");
    GraphValue result = input;
    result.type.sizes = std::move(sizes);
    return {std::move(result)};
}

Values reshape(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    Sizes sizes = integers_of(operands.at(1));
    const bool zero_is_zero = operands.node.integer("allowzero", 0) != 0;
    std::int64_t known = 1;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] == 0 && !zero_is_zero) {
            require(i < input.type.sizes.size(), "it copies a dimension that does not exist",
                    "correct the constant");
            sizes[i] = input.type.sizes[i];
        }
        require(sizes[i] >= -1 && sizes[i] <= most_elements,
                fmt::format("{} is not a size", sizes[i]), "correct the constant");
        known *= sizes[i] == -1 ? 1 : std::max<std::int64_t>(sizes[i], 1);
        require(known <= most_elements, "its result has too many elements", "correct the constant");
    }
    const auto open = std::find(sizes.begin(), sizes.end(), -1);
    if (open != sizes.end()) {
        const auto elements = static_cast<std::int64_t>(count_elements(input.type.sizes));
        require(std::count(sizes.begin(), sizes.end(), -1) == 1 && elements % known == 0,
                fmt::format("{} cannot become {}", sizes_text(input.type.sizes), sizes_text(sizes)),
                "at most one size may be -1, and the others must divide the number of elements");
        *open = elements / known;
    }
    return resized(input, sizes);
}

Values flatten(const Operands& operands) {
    const Sizes& in = operands.sizes(0);
    const std::int64_t axis = operands.node.integer("axis", 1);
    const auto rank = static_cast<std::int64_t>(in.size());
    require(axis >= -rank && axis <= rank, fmt::format("axis {} does not exist", axis),
            fmt::format("axes are {} to {}", -rank, rank));
    const std::int64_t cut = axis < 0 ? axis + rank : axis;
    const auto front = static_cast<std::int64_t>(count_elements({in.begin(), in.begin() + cut}));
    const auto back = static_cast<std::int64_t>(count_elements({in.begin() + cut, in.end()}));
    return resized(operands.at(0), {front, back});
}

Values squeeze(const Operands& operands) {
    const Sizes& in = operands.sizes(0);
    std::vector<bool> dropped(in.size(), false);
    const std::vector<std::int64_t> axes = listed(operands, 1, "axes");
    for (const std::int64_t axis : axes) {
        const std::size_t index = axis_index(axis, in.size());
        require(in[index] == 1, fmt::format("size {} is not 1", in[index]),
                "only sizes of 1 can be squeezed");
        dropped[index] = true;
    }
    Sizes out;
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (axes.empty() ? in[i] != 1 : !dropped[i]) {
            out.push_back(in[i]);
        }
    }
    return resized(operands.at(0), out);
}

Values unsqueeze(const Operands& operands) {
    const Sizes& in = operands.sizes(0);
    const std::vector<std::int64_t> axes = listed(operands, 1, "axes");
    require(axes.size() <= 8, "it adds too many dimensions", "add fewer");
    std::vector<bool> added(in.size() + axes.size(), false);
    for (const std::int64_t axis : axes) {
        const std::size_t index = axis_index(axis, added.size());
        require(!added[index], fmt::format("axis {} is given twice", axis), "list it once");
        added[index] = true;
    }
    Sizes out;
    std::size_t next = 0;
    for (const bool is_new : added) {
        out.push_back(is_new ? 1 : in[next]);
        next += is_new ? 0U : 1U;
    }
    return resized(operands.at(0), out);
}

Values shape_of(const Operands& operands) {
    const Sizes& in = operands.sizes(0);
    const auto rank = static_cast<std::int64_t>(in.size());
    const auto place = [&](const char* attribute, std::int64_t fallback) {
        const std::int64_t axis = operands.node.integer(attribute, fallback);
        return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
    };
    const std::int64_t begin = place("start", 0);
    const std::int64_t end = std::max(begin, place("end", rank));
    return {fill({ElementType::Int64, {end - begin}},
                 [&](std::size_t i) { return static_cast<double>(in[i + unsigned_of(begin)]); })};
}

Values count_of(const Operands& operands) {
    const auto count = static_cast<double>(count_elements(operands.sizes(0)));
    return {fill({ElementType::Int64, {}}, [count](std::size_t) { return count; })};
}

Values constant(const Operands& operands) {
    const GraphNode& node = operands.node;
    if (const auto found = node.attributes.find("value"); found != node.attributes.end()) {
        const GraphValue* value = std::get_if<GraphValue>(&found->second);
        require(value != nullptr, "attribute 'value' is not a tensor", "export the model again");
        return {*value};
    }
    if (node.has("value_float")) {
        const double number = node.number("value_float", 0);
        return {fill({ElementType::Float32, {}}, [number](std::size_t) { return number; })};
    }
    if (node.has("value_int")) {
        const auto number = static_cast<double>(node.integer("value_int", 0));
        return {fill({ElementType::Int64, {}}, [number](std::size_t) { return number; })};
    }
    if (node.has("value_ints")) {
        const auto integers = node.integers("value_ints");
        return {fill({ElementType::Int64, {std::ssize(integers)}},
                     [&](std::size_t i) { return static_cast<double>(integers[i]); })};
    }
    const std::vector<double> floats = node.numbers("value_floats");
    require(!floats.empty(), "its value has an unsupported type", "use a dense tensor");
    return {fill({ElementType::Float32, {std::ssize(floats)}},
                 [&](std::size_t i) { return floats[i]; })};
}

Values constant_of_shape(const Operands& operands) {
    ElementType element = ElementType::Float32;
    double number = 0;
    if (const auto found = operands.node.attributes.find("value");
        found != operands.node.attributes.end()) {
        const GraphValue* given = std::get_if<GraphValue>(&found->second);
        require(given != nullptr && given->numbers.size() == 1, "its value is not one number",
                "give one");
        element = given->type.element;
        number = given->numbers.front();
    }
    return {fill({element, integers_of(operands.at(0))}, [number](std::size_t) { return number; })};
}

/// Values from a start in steps, below a limit.
Values numbers_in_steps(const Operands& operands) {
    const double start = scalar_of(operands.at(0), "start");
    const double step = scalar_of(operands.at(2), "delta");
    const double count =
        std::max(0.0, std::ceil((scalar_of(operands.at(1), "limit") - start) / step));
    require(step != 0 && count <= static_cast<double>(most_elements),
            fmt::format("it steps by {} from {}", step, start),
            "give a step that reaches the limit");
    return {fill({operands.element(0), {static_cast<std::int64_t>(count)}},
                 [&](std::size_t i) { return start + static_cast<double>(i) * step; })};
}

}  // namespace

std::span<const OperatorRow> reshaping_operators() {
    static constexpr std::array rows{
        row("Reshape", {2, 2}, reshape) | attributes("allowzero") | sized_by(1) | moves |
            views(ViewRule::Always),
        row("Flatten", {1, 1}, flatten) | attributes("axis") | moves | views(ViewRule::Always),
        row("Squeeze", {1, 2}, squeeze) | attributes("axes") | sized_by(1) | moves |
            views(ViewRule::Always),
        row("Unsqueeze", {1, 2}, unsqueeze) | attributes("axes") | sized_by(1) | moves |
            views(ViewRule::Always),
        row("Shape", {1, 1}, shape_of) | attributes("end start") | of_sizes,
        row("Size", {1, 1}, count_of) | of_sizes,
        row("Constant", {}, constant) |
            attributes("sparse_value value value_float value_floats value_int value_ints "
                       "value_string value_strings"),
        row("ConstantOfShape", {1, 1}, constant_of_shape) | attributes("value") | sized_by(0),
        row("Range", {3, 3}, numbers_in_steps) | sized_by(0, 1, 2)};
    return rows;
}

}  // namespace npuscope::host
