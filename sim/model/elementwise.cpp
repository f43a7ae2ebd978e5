// SPDX-License-Identifier: Apache-2.0
// Operators that take element by element: of one tensor, or of several that are broadcast to a
// common size.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sim/model/operator_parts.h"

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

/// Steps through `own` sizes as if it had those of the result: 0 where it is broadcast.
std::vector<std::size_t> broadcast_steps(const Sizes& own, const Sizes& result) {
    const std::vector<std::size_t> steps = steps_of(own);
    std::vector<std::size_t> broadcast(result.size(), 0);
    const std::size_t before = result.size() - own.size();
    for (std::size_t i = 0; i < own.size(); ++i) {
        broadcast[before + i] = own[i] == 1 ? 0 : steps[i];
    }
    return broadcast;
}

/// Indices into an operand for every element of the result.
std::vector<std::size_t> broadcast_indices(const Sizes& own, const Sizes& result) {
    std::vector<std::size_t> indices(count_elements(result, most_made_elements));
    const std::vector<std::size_t> steps = broadcast_steps(own, result);
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
    const auto of_a = broadcast_indices(a.type.sizes, type.sizes);
    const auto of_b = broadcast_indices(b.type.sizes, type.sizes);
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

Types broadcast_types(const Operands& operands) {
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
Values expand(const Operands& operands) {
    const GraphValue ones =
        fill({operands.element(0), integers_of(operands.at(1))}, [](std::size_t) { return 1.0; });
    return multiply({operands.node, operands.opset, {&operands.at(0), &ones}});
}

template <class Operation>
Values map(const Operands& operands, Operation operation) {
    const GraphValue& input = operands.at(0);
    return {fill(input.type, [&](std::size_t i) { return operation(input.numbers[i]); })};
}

ElementType cast_target(std::int64_t number) {
    const ElementRow* row = find_onnx_element(number);
    require(row != nullptr, fmt::format("it casts to element type {}", number),
            "cast to float32, float64, bool or an integer type");
    return row->type;
}

/// A limit of Clip: an operand from opset 11 on, an attribute before.
double limit(const Operands& operands, std::size_t index, const char* attribute, double fallback) {
    if (operands.has(index)) {
        return scalar_of(operands.at(index), attribute);
    }
    return operands.opset < 11 ? operands.node.number(attribute, fallback) : fallback;
}

Values floor(const Operands& operands) {
    return map(operands, [](double x) { return std::floor(x); });
}
Values ceil(const Operands& operands) {
    return map(operands, [](double x) { return std::ceil(x); });
}
/// Half to even.
Values round(const Operands& operands) {
    return map(operands, [](double x) { return std::nearbyint(x); });
}
Values negate(const Operands& operands) {
    return map(operands, [](double x) { return -x; });
}
Values absolute(const Operands& operands) {
    return map(operands, [](double x) { return std::abs(x); });
}
Values square_root(const Operands& operands) {
    return map(operands, [](double x) { return std::sqrt(x); });
}
Values exponential(const Operands& operands) {
    return map(operands, [](double x) { return std::exp(x); });
}
Values logarithm(const Operands& operands) {
    return map(operands, [](double x) { return std::log(x); });
}
Values relu(const Operands& operands) {
    return map(operands, [](double x) { return std::max(x, 0.0); });
}
Values leaky_relu(const Operands& operands) {
    const double alpha = operands.node.number("alpha", 0.01);
    return map(operands, [alpha](double x) { return x < 0 ? alpha * x : x; });
}
Values sigmoid(const Operands& operands) {
    return map(operands, [](double x) { return 1.0 / (1.0 + std::exp(-x)); });
}
Values hard_sigmoid(const Operands& operands) {
    const double alpha = operands.node.number("alpha", 0.2);
    const double beta = operands.node.number("beta", 0.5);
    return map(operands, [=](double x) { return std::clamp(alpha * x + beta, 0.0, 1.0); });
}
Values hard_swish(const Operands& operands) {
    return map(operands, [](double x) { return x * std::clamp(x / 6.0 + 0.5, 0.0, 1.0); });
}
Values hyperbolic_tangent(const Operands& operands) {
    return map(operands, [](double x) { return std::tanh(x); });
}

Values clip(const Operands& operands) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const double low = limit(operands, 1, "min", -infinite);
    const double high = limit(operands, 2, "max", infinite);
    return map(operands, [=](double x) { return std::min(std::max(x, low), high); });
}

Types cast_types(const Operands& operands) {
    return {{cast_target(operands.node.integer("to", 0)), operands.sizes(0)}};
}

Values cast(const Operands& operands) {
    const TensorType type = cast_types(operands).front();
    return {GraphValue{type, operands.at(0).numbers}};
}

Values identity(const Operands& operands) { return {operands.at(0)}; }

Types batch_normalise_types(const Operands& operands) {
    const Sizes& sizes = operands.sizes(0);
    require(sizes.size() >= 2, "its input has no channels", "inputs are NC or NC...");
    for (std::size_t i = 1; i <= 4; ++i) {
        require(operands.sizes(i) == Sizes{sizes[1]},
                fmt::format("operand {} is {} for {} channels", i, sizes_text(operands.sizes(i)),
                            sizes[1]),
                "give one number per channel");
    }
    return {operands.at(0).type};
}

Values batch_normalise(const Operands& operands) {
    batch_normalise_types(operands);
    const GraphValue& input = operands.at(0);
    const auto channels = static_cast<std::size_t>(input.type.sizes[1]);
    const std::size_t step = steps_of(input.type.sizes)[1];
    const double epsilon = operands.node.number("epsilon", 1e-5);
    return {fill(input.type, [&](std::size_t i) {
        const std::size_t c = i / step % channels;
        const double scale =
            operands.at(1).numbers[c] / std::sqrt(operands.at(4).numbers[c] + epsilon);
        return (input.numbers[i] - operands.at(3).numbers[c]) * scale + operands.at(2).numbers[c];
    })};
}

void check_divisor(const Operands& operands) {
    if (!operands.has(1)) {
        return;
    }
    const auto& divisors = operands.at(1).numbers;
    require(std::find(divisors.begin(), divisors.end(), 0.0) == divisors.end(),
            "it divides by a constant 0", "correct the divisor");
}

/// What a Clip gives whose limits are crossed changed from opset to opset.
void check_limits(const Operands& operands) {
    const auto limit = [&](std::size_t operand, const char* attribute, double fallback) {
        return operands.has(operand) && operands.at(operand).numbers.size() == 1
                   ? operands.at(operand).numbers.front()
                   : operands.node.number(attribute, fallback);
    };
    const double low = limit(1, "min", -std::numeric_limits<double>::infinity());
    const double high = limit(2, "max", std::numeric_limits<double>::infinity());
    require(low <= high, fmt::format("its min {} exceeds its max {}", low, high),
            "correct the limits");
}

ValueRange sum_range(const RangeOperands& operands) {
    const ValueRange &a = operands.at(0), &b = operands.at(1);
    return {a.whole && b.whole, {a.range.low + b.range.low, a.range.high + b.range.high}, false};
}
ValueRange difference_range(const RangeOperands& operands) {
    const ValueRange &a = operands.at(0), &b = operands.at(1);
    return {a.whole && b.whole, {a.range.low - b.range.high, a.range.high - b.range.low}, false};
}

ValueRange maximum_range(const RangeOperands& operands) {
    return combined_range(operands, [](const NumberRange& a, const NumberRange& b) {
        return NumberRange{std::max(a.low, b.low), std::max(a.high, b.high)};
    });
}
ValueRange minimum_range(const RangeOperands& operands) {
    return combined_range(operands, [](const NumberRange& a, const NumberRange& b) {
        return NumberRange{std::min(a.low, b.low), std::min(a.high, b.high)};
    });
}

ValueRange rounded_range(const RangeOperands& operands) {
    const NumberRange& range = operands.at(0).range;
    return {true, {std::floor(range.low), std::ceil(range.high)}, false};
}

ValueRange limited_range(const ValueRange& values, double low, double high) {
    const auto whole_limit = [](double x) { return !std::isfinite(x) || x == std::trunc(x); };
    return {values.whole && whole_limit(low) && whole_limit(high),
            {std::clamp(values.range.low, low, std::max(low, high)),
             std::clamp(values.range.high, low, std::max(low, high))},
            values.assumed};
}
ValueRange positive_range(const RangeOperands& operands) {
    return limited_range(operands.at(0), 0, std::numeric_limits<double>::infinity());
}
ValueRange clipped_range(const RangeOperands& operands) {
    const auto bound = [&](std::size_t operand, const char* attribute, double fallback) {
        const GraphValue* value = operands.graph.constant(operands.node.input(operand));
        return value != nullptr && !value->numbers.empty()
                   ? value->numbers.front()
                   : operands.node.number(attribute, fallback);
    };
    constexpr double infinite = std::numeric_limits<double>::infinity();
    return limited_range(operands.at(0), bound(1, "min", -infinite), bound(2, "max", infinite));
}

constexpr std::array rows{
    OperatorRow{.op = "Add",
                .least = 2,
                .most = 2,
                .types = TypeRule::Same,
                .evaluate = add,
                .infer = broadcast_types,
                .range = sum_range},
    OperatorRow{.op = "Sub",
                .least = 2,
                .most = 2,
                .types = TypeRule::Same,
                .evaluate = subtract,
                .infer = broadcast_types,
                .range = difference_range},
    OperatorRow{.op = "Mul",
                .least = 2,
                .most = 2,
                .types = TypeRule::Same,
                .evaluate = multiply,
                .infer = broadcast_types},
    OperatorRow{.op = "Div",
                .least = 2,
                .most = 2,
                .types = TypeRule::Same,
                .evaluate = divide,
                .infer = broadcast_types,
                .check = check_divisor},
    OperatorRow{.op = "Pow", .least = 2, .most = 2, .evaluate = power, .infer = broadcast_types},
    OperatorRow{.op = "Max",
                .least = 1,
                .types = TypeRule::Same,
                .evaluate = maximum,
                .infer = broadcast_types,
                .takes_infinity = true,
                .range = maximum_range},
    OperatorRow{.op = "Min",
                .least = 1,
                .types = TypeRule::Same,
                .evaluate = minimum,
                .infer = broadcast_types,
                .takes_infinity = true,
                .range = minimum_range},
    OperatorRow{.op = "Sum",
                .least = 1,
                .types = TypeRule::Same,
                .evaluate = sum,
                .infer = broadcast_types},
    OperatorRow{.op = "Floor",
                .least = 1,
                .most = 1,
                .types = TypeRule::Float,
                .evaluate = floor,
                .infer = own_type,
                .range = rounded_range},
    OperatorRow{.op = "Ceil",
                .least = 1,
                .most = 1,
                .types = TypeRule::Float,
                .evaluate = ceil,
                .infer = own_type,
                .range = rounded_range},
    OperatorRow{.op = "Round",
                .least = 1,
                .most = 1,
                .types = TypeRule::Float,
                .evaluate = round,
                .infer = own_type,
                .range = rounded_range},
    OperatorRow{.op = "Neg",
                .least = 1,
                .most = 1,
                .types = TypeRule::Same,
                .evaluate = negate,
                .infer = own_type},
    OperatorRow{.op = "Abs",
                .least = 1,
                .most = 1,
                .types = TypeRule::Same,
                .evaluate = absolute,
                .infer = own_type},
    OperatorRow{.op = "Sqrt",
                .least = 1,
                .most = 1,
                .types = TypeRule::Float,
                .evaluate = square_root,
                .infer = own_type},
    OperatorRow{.op = "Exp",
                .least = 1,
                .most = 1,
                .types = TypeRule::Float,
                .evaluate = exponential,
                .infer = own_type},
    OperatorRow{.op = "Log",
                .least = 1,
                .most = 1,
                .types = TypeRule::Float,
                .evaluate = logarithm,
                .infer = own_type},
    OperatorRow{.op = "Relu",
                .least = 1,
                .most = 1,
                .types = TypeRule::Same,
                .evaluate = relu,
                .infer = own_type,
                .range = positive_range},
    OperatorRow{.op = "LeakyRelu",
                .least = 1,
                .most = 1,
                .types = TypeRule::Float,
                .evaluate = leaky_relu,
                .infer = own_type,
                .attributes = "alpha"},
    OperatorRow{.op = "Sigmoid",
                .least = 1,
                .most = 1,
                .types = TypeRule::Float,
                .evaluate = sigmoid,
                .infer = own_type},
    OperatorRow{.op = "HardSigmoid",
                .least = 1,
                .most = 1,
                .types = TypeRule::Float,
                .evaluate = hard_sigmoid,
                .infer = own_type,
                .attributes = "alpha beta"},
    OperatorRow{.op = "HardSwish",
                .least = 1,
                .most = 1,
                .types = TypeRule::Float,
                .evaluate = hard_swish,
                .infer = own_type},
    OperatorRow{.op = "Tanh",
                .least = 1,
                .most = 1,
                .types = TypeRule::Float,
                .evaluate = hyperbolic_tangent,
                .infer = own_type},
    OperatorRow{.op = "Clip",
                .least = 1,
                .most = 3,
                .types = TypeRule::Same,
                .evaluate = clip,
                .infer = own_type,
                .attributes = "max min",
                .sizing = operand(1) | operand(2),
                .check = check_limits,
                .takes_infinity = true,
                .range = clipped_range},
    OperatorRow{.op = "Cast",
                .least = 1,
                .most = 1,
                .evaluate = cast,
                .infer = cast_types,
                .attributes = "saturate to",
                .range = stored_range,
                .view = ViewRule::WhereNumbersFit},
    OperatorRow{.op = "Identity",
                .least = 1,
                .most = 1,
                .evaluate = identity,
                .infer = own_type,
                .range = range_of_first,
                .view = ViewRule::Always},
    OperatorRow{.op = "Dropout",
                .least = 1,
                .most = 3,
                .evaluate = identity,
                .infer = own_type,
                .attributes = "ratio seed",
                .range = range_of_first,
                .view = ViewRule::Always},
    OperatorRow{.op = "BatchNormalization",
                .least = 5,
                .most = 5,
                .types = TypeRule::Float,
                .evaluate = batch_normalise,
                .infer = batch_normalise_types,
                .attributes = "epsilon momentum spatial training_mode"},
    OperatorRow{.op = "Expand",
                .least = 2,
                .most = 2,
                .evaluate = expand,
                .sizing = operand(1),
                .range = range_of_first}};

}  // namespace

std::span<const OperatorRow> elementwise_operators() { return rows; }

}  // namespace npuscope::host
