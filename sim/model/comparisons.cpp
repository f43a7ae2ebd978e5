// SPDX-License-Identifier: Apache-2.0
// Comparisons, logic, selection, and unary functions of exported networks beyond elementwise.cpp.
// source: ONNX operator definitions, opset 7 to 24; com.microsoft contrib operators
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

constexpr NumberRange truth{0, 1};

Types truth_types(const Operands& operands) {
    return {{ElementType::Bool, common_sizes(operands.sizes(0), operands.sizes(1))}};
}
template <auto Operation>
Values compare(const Operands& operands) {
    GraphValue result = combine(operands.at(0), operands.at(1),
                                [](double a, double b) { return Operation(a, b) ? 1.0 : 0.0; });
    result.type.element = ElementType::Bool;
    return {std::move(result)};
}
ValueRange truth_range(const RangeOperands& /*operands*/) { return {true, truth, false}; }

constexpr OperatorRow comparison(std::string_view op, Evaluate evaluate) {
    return row(op, {2, 2}, evaluate) | same_types | inferring(truth_types) | ranging(truth_range);
}

Values negate(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    return {fill(input.type, [&](std::size_t i) { return input.numbers[i] == 0 ? 1.0 : 0.0; })};
}

// operands: condition, value if true, value if false
Types where_types(const Operands& operands) {
    require(operands.element(1) == operands.element(2),
            "its two branches have different element types", "cast one branch");
    const Sizes both = common_sizes(operands.sizes(1), operands.sizes(2));
    return {{operands.element(1), common_sizes(operands.sizes(0), both)}};
}
Values where(const Operands& operands) {
    const TensorType type = where_types(operands).front();
    const auto condition = broadcast_indices(operands.sizes(0), type.sizes);
    const auto yes = broadcast_indices(operands.sizes(1), type.sizes);
    const auto no = broadcast_indices(operands.sizes(2), type.sizes);
    return {fill(type, [&](std::size_t i) {
        return operands.at(0).numbers[condition[i]] != 0 ? operands.at(1).numbers[yes[i]]
                                                         : operands.at(2).numbers[no[i]];
    })};
}
ValueRange where_range(const RangeOperands& operands) {
    const ValueRange &yes = operands.at(1), &no = operands.at(2);
    return {yes.whole && no.whole, join_ranges(yes.range, no.range), yes.assumed || no.assumed};
}

Types tested_types(const Operands& operands) { return {{ElementType::Bool, operands.sizes(0)}}; }
template <class Test>
Values test(const Operands& operands, Test test) {
    const auto& numbers = operands.at(0).numbers;
    return {fill(tested_types(operands).front(),
                 [&](std::size_t i) { return test(numbers[i]) ? 1.0 : 0.0; })};
}
Values is_nan(const Operands& operands) {
    return test(operands, [](double x) { return std::isnan(x); });
}
Values is_infinite(const Operands& operands) {
    const bool positive = operands.node.integer("detect_positive", 1) != 0;
    const bool negative = operands.node.integer("detect_negative", 1) != 0;
    return test(operands, [=](double x) { return std::isinf(x) && (x > 0 ? positive : negative); });
}
constexpr OperatorRow tested(std::string_view op, Evaluate evaluate) {
    return row(op, {1, 1}, evaluate) | float_types | inferring(tested_types) | takes_infinity |
           ranging(truth_range);
}

/// For integers with the divisor's sign, or (fmod) the dividend's.
Values modulo(const Operands& operands) {
    const bool truncates = operands.node.integer("fmod", 0) != 0;
    return {combine(operands.at(0), operands.at(1), [truncates](double a, double b) {
        const double rest = b == 0 ? 0 : std::fmod(a, b);
        return truncates || rest == 0 || (rest < 0) == (b < 0) ? rest : rest + b;
    })};
}
Types modulo_types(const Operands& operands) {
    return {{operands.element(0), common_sizes(operands.sizes(0), operands.sizes(1))}};
}

double sign(double x) {
    if (x == 0) {
        return 0;
    }
    return x < 0 ? -1 : 1;
}
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }
double gelu(double x) { return x * 0.5 * (1 + std::erf(x / std::numbers::sqrt2)); }
double tanh_gelu(double x) {
    const double root = std::sqrt(2 / std::numbers::pi);
    return x * 0.5 * (1 + std::tanh(root * (x + 0.044715 * x * x * x)));
}

Values gelus(const Operands& operands) {
    return operands.node.text("approximate", "none") == "tanh" ? each<tanh_gelu>(operands)
                                                               : each<gelu>(operands);
}
Types biased_types(const Operands& operands) {
    const Sizes& own = operands.sizes(0);
    return {{operands.element(0), operands.has(1) ? common_sizes(own, operands.sizes(1)) : own}};
}
/// With an optional bias.
Values fast_gelu(const Operands& operands) {
    const GraphValue sum =
        operands.has(1) ? combine(operands.at(0), operands.at(1), std::plus<>{}) : operands.at(0);
    return {fill(sum.type, [&](std::size_t i) { return tanh_gelu(sum.numbers[i]); })};
}
Values bias_gelu(const Operands& operands) {
    const GraphValue sum = combine(operands.at(0), operands.at(1), std::plus<>{});
    return {fill(sum.type, [&](std::size_t i) { return gelu(sum.numbers[i]); })};
}
Values quick_gelu(const Operands& operands) {
    const double alpha = operands.node.number("alpha", 1.702);
    return change(operands, [alpha](double x) { return x / (1 + std::exp(-alpha * x)); });
}
Values selu(const Operands& operands) {
    const double alpha = operands.node.number("alpha", 1.67326319217681884765625);
    const double gamma = operands.node.number("gamma", 1.05070102214813232421875);
    return change(operands, [=](double x) { return gamma * (x > 0 ? x : alpha * std::expm1(x)); });
}
Values celu(const Operands& operands) {
    const double alpha = operands.node.number("alpha", 1.0);
    return change(operands,
                  [alpha](double x) { return x > 0 ? x : alpha * std::expm1(x / alpha); });
}
Values thresholded(const Operands& operands) {
    const double alpha = operands.node.number("alpha", 1.0);
    return change(operands, [alpha](double x) { return x > alpha ? x : 0.0; });
}
Values shrink(const Operands& operands) {
    const double lambda = operands.node.number("lambd", 0.5);
    const double bias = operands.node.number("bias", 0.0);
    return change(operands, [=](double x) {
        return x < -lambda ? x + bias : x > lambda ? x - bias : 0.0;
    });
}

}  // namespace

std::span<const OperatorRow> comparison_operators() {
    static constexpr std::array rows{
        comparison("Equal", compare<std::equal_to<>{}>),
        comparison("Greater", compare<std::greater<>{}>),
        comparison("GreaterOrEqual", compare<std::greater_equal<>{}>),
        comparison("Less", compare<std::less<>{}>),
        comparison("LessOrEqual", compare<std::less_equal<>{}>),
        comparison("And", compare<[](double a, double b) { return a != 0 && b != 0; }>),
        comparison("Or", compare<[](double a, double b) { return a != 0 || b != 0; }>),
        comparison("Xor", compare<[](double a, double b) { return (a != 0) != (b != 0); }>),
        tested("IsNaN", is_nan),
        tested("IsInf", is_infinite) | attributes("detect_negative detect_positive"),
        row("Not", {1, 1}, negate) | ranging(truth_range),
        row("Where", {3, 3}, where) | inferring(where_types) | ranging(where_range),
        row("Mod", {2, 2}, modulo) | same_types | inferring(modulo_types) | attributes("fmod"),
        function("Softplus", each<softplus>) | float_types,
        function("Softsign", each<[](double x) { return x / (1 + std::abs(x)); }>) | float_types,
        function("Mish", each<[](double x) { return x * std::tanh(softplus(x)); }>) | float_types,
        function("Gelu", gelus) | float_types | attributes("approximate"),
        function("com.microsoft.Gelu", each<gelu>) | float_types,
        function("com.microsoft.QuickGelu", quick_gelu) | float_types | attributes("alpha"),
        row("com.microsoft.FastGelu", {1, 2}, fast_gelu) | float_types | inferring(biased_types),
        row("com.microsoft.BiasGelu", {2, 2}, bias_gelu) | float_types | inferring(biased_types),
        function("Selu", selu) | float_types | attributes("alpha gamma"),
        function("Celu", celu) | float_types | attributes("alpha"),
        function("ThresholdedRelu", thresholded) | float_types | attributes("alpha"),
        function("Shrink", shrink) | float_types | attributes("bias lambd"),
        function("Reciprocal", each<[](double x) { return 1 / x; }>) | float_types,
        function("Sign", each<sign>) | same_types,
        function("Sin", each<[](double x) { return std::sin(x); }>) | float_types,
        function("Cos", each<[](double x) { return std::cos(x); }>) | float_types,
        function("Tan", each<[](double x) { return std::tan(x); }>) | float_types,
        function("Atan", each<[](double x) { return std::atan(x); }>) | float_types,
        function("Asin", each<[](double x) { return std::asin(x); }>) | float_types,
        function("Acos", each<[](double x) { return std::acos(x); }>) | float_types,
        function("Asinh", each<[](double x) { return std::asinh(x); }>) | float_types,
        function("Acosh", each<[](double x) { return std::acosh(x); }>) | float_types,
        function("Atanh", each<[](double x) { return std::atanh(x); }>) | float_types,
        function("Sinh", each<[](double x) { return std::sinh(x); }>) | float_types,
        function("Cosh", each<[](double x) { return std::cosh(x); }>) | float_types};
    return rows;
}

}  // namespace npuscope::host
