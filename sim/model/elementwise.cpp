// SPDX-License-Identifier: Apache-2.0
// Operators of two or more tensors that are stretched to a common size (broadcasting).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/model/operand_reading.h"
#include "sim/model/operator_families.h"

namespace npuscope::host {
namespace {

Sizes common_sizes(const Sizes& a, const Sizes& b) {
    Sizes sizes(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::int64_t from_a = i < a.size() ? a[a.size() - 1 - i] : 1;
        const std::int64_t from_b = i < b.size() ? b[b.size() - 1 - i] : 1;
        require(
            from_a == from_b || from_a == 1 || from_b == 1,
            fmt::format("tensors of {} and {} do not go together", sizes_text(a), sizes_text(b)),
            "sizes must be equal or 1");
        sizes[sizes.size() - 1 - i] = from_a == 1 ? from_b : from_a;
    }
    return sizes;
}

/// Steps through `own` sizes as if it had those of the result: 0 where it is stretched.
std::vector<std::size_t> stretched_steps(const Sizes& own, const Sizes& result) {
    const std::vector<std::size_t> steps = steps_of(own);
    std::vector<std::size_t> stretched(result.size(), 0);
    const std::size_t before = result.size() - own.size();
    for (std::size_t i = 0; i < own.size(); ++i) {
        stretched[before + i] = own[i] == 1 ? 0 : steps[i];
    }
    return stretched;
}

/// Indices into an operand for every element of the result.
std::vector<std::size_t> stretched_indices(const Sizes& own, const Sizes& result) {
    std::vector<std::size_t> indices(count_elements(result, most_made_elements));
    const std::vector<std::size_t> steps = stretched_steps(own, result);
    Odometer odometer(result);
    for (std::size_t& index : indices) {
        for (std::size_t i = 0; i < steps.size(); ++i) {
            index += steps[i] * static_cast<std::size_t>(odometer.at()[i]);
        }
        odometer.next();
    }
    return indices;
}

template <class Operation>
GraphValue combine(const GraphValue& a, const GraphValue& b, Operation operation) {
    const TensorType type{a.type.element, common_sizes(a.type.sizes, b.type.sizes)};
    if (a.type.sizes == b.type.sizes) {
        return fill(type, [&](std::size_t i) { return operation(a.numbers[i], b.numbers[i]); });
    }
    const auto of_a = stretched_indices(a.type.sizes, type.sizes);
    const auto of_b = stretched_indices(b.type.sizes, type.sizes);
    return fill(type,
                [&](std::size_t i) { return operation(a.numbers[of_a[i]], b.numbers[of_b[i]]); });
}

template <class Operation>
Values combine_all(const Operands& operands, Operation operation) {
    GraphValue result = operands.at(0);
    for (std::size_t i = 1; i < operands.values.size(); ++i) {
        result = combine(result, operands.at(i), operation);
        settle(result);
    }
    return {std::move(result)};
}

double quotient(double a, double b, bool integers) {
    if (!integers) {
        return a / b;
    }
    return b == 0 ? 0 : std::trunc(a / b);
}

}  // namespace

Types stretched_types(const Operands& operands) {
    TensorType type = operands.at(0).type;
    for (std::size_t i = 1; i < operands.values.size(); ++i) {
        type.sizes = common_sizes(type.sizes, operands.sizes(i));
    }
    return {type};
}

Values add(const Operands& operands) {
    return combine_all(operands, [](double a, double b) { return a + b; });
}
Values subtract(const Operands& operands) {
    return combine_all(operands, [](double a, double b) { return a - b; });
}
Values multiply(const Operands& operands) {
    return combine_all(operands, [](double a, double b) { return a * b; });
}
Values divide(const Operands& operands) {
    const bool integers = !is_float(operands.element(0));
    return combine_all(operands,
                       [integers](double a, double b) { return quotient(a, b, integers); });
}
Values power(const Operands& operands) {
    return combine_all(operands, [](double a, double b) { return std::pow(a, b); });
}
Values maximum(const Operands& operands) {
    return combine_all(operands, [](double a, double b) { return std::max(a, b); });
}
Values minimum(const Operands& operands) {
    return combine_all(operands, [](double a, double b) { return std::min(a, b); });
}
Values sum(const Operands& operands) { return add(operands); }

}  // namespace npuscope::host
