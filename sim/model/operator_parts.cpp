// SPDX-License-Identifier: Apache-2.0
#include "sim/model/operator_parts.h"

#include <fmt/format.h>

namespace npuscope::host {

void require(bool good, const std::string& sentence, const std::string& remedy) {
    if (!good) {
        throw ConfigError(sentence, remedy);
    }
}

std::size_t axis_index(std::int64_t axis, std::size_t rank) {
    const auto size = static_cast<std::int64_t>(rank);
    require(axis >= -size && axis < size,
            fmt::format("axis {} does not exist in a tensor of {} directions", axis, size),
            fmt::format("axes are {} to {}", -size, size - 1));
    return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

std::vector<std::size_t> steps_of(const Sizes& sizes) {
    std::vector<std::size_t> steps(sizes.size(), 1);
    for (std::size_t i = sizes.size(); i-- > 1;) {
        steps[i - 1] = steps[i] * static_cast<std::size_t>(sizes[i]);
    }
    return steps;
}

std::vector<std::int64_t> integers_of(const GraphValue& value) {
    std::vector<std::int64_t> integers;
    integers.reserve(value.numbers.size());
    for (const double number : value.numbers) {
        integers.push_back(to_integer(number));
    }
    return integers;
}

double scalar_of(const GraphValue& value, const char* what) {
    require(value.numbers.size() == 1,
            fmt::format("its {} has {} elements where one is wanted", what, value.numbers.size()),
            "give one number");
    return value.numbers.front();
}

Types own_type(const Operands& operands) { return {operands.at(0).type}; }

ValueRange range_of_first(const RangeOperands& operands) { return operands.at(0); }

ValueRange stored_range(const RangeOperands& operands) {
    const ValueRange& values = operands.at(0);
    const ElementType type = operands.result();
    if (is_float(type)) {
        return values;
    }
    const NumberRange range = range_of(type);
    const bool fits = values.range.low >= range.low && values.range.high <= range.high;
    return {true, fits ? values.range : range, fits && values.assumed};
}

}  // namespace npuscope::host
