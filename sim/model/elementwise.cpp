// SPDX-License-Identifier: Apache-2.0
// Elementwise operators: on one tensor, or on several that are broadcast to a common size.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "sim/config/text_table.h"
#include "sim/model/operator_parts.h"

namespace npuscope::host {

Sizes common_sizes(const Sizes& a, const Sizes& b) {
    Sizes sizes(std::max(a.size(), b.size()), 1);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const std::int64_t from_a = i < a.size() ? a[a.size() - 1 - i] : 1;
        const std::int64_t from_b = i < b.size() ? b[b.size() - 1 - i] : 1;
        require(from_a == from_b || from_a == 1 || from_b == 1,
                fmt::format("tensors of {} and {} do not match", sizes_text(a), sizes_text(b)),
                "sizes must be equal or 1");
        sizes[sizes.size() - 1 - i] = from_a == 1 ? from_b : from_a;
    }
    return sizes;
}

std::vector<std::size_t> broadcast_indices(const Sizes& own, const Sizes& result) {
    std::vector<std::size_t> indices(count_elements(result, most_made_elements));
    const std::vector<std::size_t> steps = steps_of(own);
    const std::size_t before = result.size() - own.size();
    Odometer odometer(result);
    for (std::size_t& index : indices) {
        for (std::size_t i = 0; i < own.size(); ++i) {
            index += own[i] == 1 ? 0 : steps[i] * unsigned_of(odometer.at()[before + i]);
        }
        odometer.next();
    }
    return indices;
}

namespace {

template <auto Operation>
Values combine_all(const Operands& operands) {
    GraphValue result = operands.at(0);
    for (std::size_t i = 1; i < operands.values.size(); ++i) {
        result = combine(result, operands.at(i), Operation);
        settle(result);
    }
    return {std::move(result)};
}

Types broadcast_types(const Operands& operands) {
    TensorType type = operands.at(0).type;
    for (std::size_t i = 1; i < operands.values.size(); ++i) {
        type.sizes = common_sizes(type.sizes, operands.sizes(i));
    }
    return {type};
}

/// For integers, truncated; 0 for a zero divisor.
Values divide(const Operands& operands) {
    return is_float(operands.element(0))
               ? combine_all<std::divides<>{}>(operands)
               : combine_all<[](double a, double b) { return b == 0 ? 0 : std::trunc(a / b); }>(
                     operands);
}
Values expand(const Operands& operands) {
    const GraphValue ones =
        fill({operands.element(0), integers_of(operands.at(1))}, [](std::size_t) { return 1.0; });
    return {combine(operands.at(0), ones, std::multiplies<>{})};
}

template <class Operation>
Values change(const Operands& operands, Operation operation) {
    const GraphValue& input = operands.at(0);
    return {fill(input.type, [&](std::size_t i) { return operation(input.numbers[i]); })};
}
template <auto Operation>
Values each(const Operands& operands) {
    return change(operands, Operation);
}

Values mean(const Operands& operands) {
    Values sum = combine_all<std::plus<>{}>(operands);
    for (double& number : sum.front().numbers) {
        number /= static_cast<double>(operands.values.size());
    }
    return sum;
}

Values elu(const Operands& operands) {
    const double alpha = operands.node.number("alpha", 1.0);
    return change(operands, [alpha](double x) { return x < 0 ? alpha * std::expm1(x) : x; });
}
Values leaky_relu(const Operands& operands) {
    const double alpha = operands.node.number("alpha", 0.01);
    return change(operands, [alpha](double x) { return x < 0 ? alpha * x : x; });
}
Values swish(const Operands& operands) {
    const double alpha = operands.node.number("alpha", 1.0);
    return change(operands, [alpha](double x) { return x / (1.0 + std::exp(-alpha * x)); });
}
Values hard_sigmoid(const Operands& operands) {
    const double alpha = operands.node.number("alpha", 0.2);
    const double beta = operands.node.number("beta", 0.5);
    return change(operands, [=](double x) { return std::clamp(alpha * x + beta, 0.0, 1.0); });
}

constexpr double infinite = std::numeric_limits<double>::infinity();

/// A limit of Clip: an operand from opset 11 on, an attribute before that.
double limit(const Operands& operands, std::size_t index, const char* attribute, double fallback) {
    if (operands.has(index)) {
        return scalar_of(operands.at(index), attribute);
    }
    return operands.opset < 11 ? operands.node.number(attribute, fallback) : fallback;
}

Values clip(const Operands& operands) {
    const double low = limit(operands, 1, "min", -infinite);
    const double high = limit(operands, 2, "max", infinite);
    return change(operands, [=](double x) { return std::min(std::max(x, low), high); });
}

Types cast_types(const Operands& operands) {
    require(operands.node.has("to"), "it does not say which type it casts to",
            "add attribute 'to'");
    return {{element_of(operands.node, "to", ElementType::Float32), operands.sizes(0)}};
}

Values cast(const Operands& operands) {
    const TensorType type = cast_types(operands).front();
    return {GraphValue{type, operands.at(0).numbers}};
}

// operands: data, a tensor of the type wanted
Types cast_like_types(const Operands& operands) {
    return {{operands.element(1), operands.sizes(0)}};
}
Values cast_like(const Operands& operands) {
    return {GraphValue{cast_like_types(operands).front(), operands.at(0).numbers}};
}

Values identity(const Operands& operands) { return {operands.at(0)}; }

// operands: data, ratio, whether it trains; results: data, mask
Types dropout_types(const Operands& operands) {
    const bool is_bool = operands.opset >= 10;
    return {operands.at(0).type,
            {is_bool ? ElementType::Bool : operands.element(0), operands.sizes(0)}};
}
/// Where ratio and mode are constants, the error is known before a run.
void check_dropout(const Operands& operands) {
    const auto known = [&](std::size_t i) {
        return !operands.has(i) || operands.at(i).numbers.size() == 1;
    };
    if (known(1) && known(2) && operands.has(2)) {
        const double ratio = operands.has(1) ? operands.at(1).numbers.front() : 0.5;
        require(operands.at(2).numbers.front() == 0 || ratio == 0,
                "it drops elements at random, as in training",
                "set training_mode to false: export the model for inference");
    }
}
/// Drops nothing: that is only for training.
Values dropout(const Operands& operands) {
    check_dropout(operands);
    return {operands.at(0), fill(dropout_types(operands)[1], [](std::size_t) { return 1.0; })};
}
Types batch_normalise_types(const Operands& operands) {
    const Sizes& sizes = operands.sizes(0);
    require(sizes.size() >= 2, "its input has no channels", "inputs must be NC or NC...");
    for (std::size_t i = 1; i <= 4; ++i) {
        require(operands.sizes(i) == Sizes{sizes[1]},
                fmt::format("operand {} has shape {} for {}", i, sizes_text(operands.sizes(i)),
                            counted(unsigned_of(sizes[1]), "channel")),
                "give one number per channel");
    }
    if (operands.node.integer("training_mode", 0) == 0) {
        return {operands.at(0).type};
    }
    return {operands.at(0).type, operands.at(3).type, operands.at(4).type};
}

/// The mean of each channel of a map, and its variance.
struct Statistics {
    explicit Statistics(const GraphValue& map)
        : means(unsigned_of(map.type.sizes[1]), 0.0), variances(means) {
        const std::size_t step = steps_of(map.type.sizes)[1];
        const double count =
            static_cast<double>(map.numbers.size()) / static_cast<double>(means.size());
        for (std::size_t i = 0; i < map.numbers.size(); ++i) {
            means[i / step % means.size()] += map.numbers[i] / count;
        }
        for (std::size_t i = 0; i < map.numbers.size(); ++i) {
            const std::size_t c = i / step % means.size();
            const double distance = map.numbers[i] - means[c];
            variances[c] += distance * distance / count;
        }
    }
    std::vector<double> means;
    std::vector<double> variances;
};

/// In its training form, by the map's own mean and variance; further results are the running ones.
Values batch_normalise(const Operands& operands) {
    batch_normalise_types(operands);
    const GraphValue& input = operands.at(0);
    const bool trains = operands.node.integer("training_mode", 0) != 0;
    std::vector<double> means = operands.at(3).numbers;
    std::vector<double> variances = operands.at(4).numbers;
    Values running;
    if (trains) {
        Statistics own(input);
        const double kept = operands.node.number("momentum", 0.9);
        const auto run = [&](std::size_t operand, const std::vector<double>& now) {
            running.push_back(fill(operands.at(operand).type, [&](std::size_t c) {
                return operands.at(operand).numbers[c] * kept + now[c] * (1 - kept);
            }));
        };
        run(3, own.means);
        run(4, own.variances);
        means = std::move(own.means);
        variances = std::move(own.variances);
    }
    const std::size_t step = steps_of(input.type.sizes)[1];
    const double epsilon = operands.node.number("epsilon", 1e-5);
    Values results{fill(input.type, [&](std::size_t i) {
        const std::size_t c = i / step % means.size();
        const double scale = operands.at(1).numbers[c] / std::sqrt(variances[c] + epsilon);
        return (input.numbers[i] - means[c]) * scale + operands.at(2).numbers[c];
    })};
    std::ranges::move(running, std::back_inserter(results));
    return results;
}

void check_divisor(const Operands& operands) {
    if (!operands.has(1)) {
        return;
    }
    const auto& divisors = operands.at(1).numbers;
    require(std::find(divisors.begin(), divisors.end(), 0.0) == divisors.end(),
            "it divides by a constant 0", "correct the divisor");
}

/// The result of a Clip with min > max changed from opset to opset.
void check_limits(const Operands& operands) {
    const auto limit = [&](std::size_t operand, const char* attribute, double fallback) {
        return operands.has(operand) && operands.at(operand).numbers.size() == 1
                   ? operands.at(operand).numbers.front()
                   : operands.node.number(attribute, fallback);
    };
    const double low = limit(1, "min", -infinite);
    const double high = limit(2, "max", infinite);
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
    return limited_range(operands.at(0), 0, infinite);
}
ValueRange clipped_range(const RangeOperands& operands) {
    const auto bound = [&](std::size_t operand, const char* attribute, double fallback) {
        const GraphValue* value = operands.graph.constant(operands.node.input(operand));
        return value != nullptr && !value->numbers.empty()
                   ? value->numbers.front()
                   : operands.node.number(attribute, fallback);
    };
    return limited_range(operands.at(0), bound(1, "min", -infinite), bound(2, "max", infinite));
}

using enum TypeRule;

/// An operator with broadcast operands.
constexpr OperatorRow row_of(std::string_view op, InputCount inputs, TypeRule types,
                             Evaluate evaluate, Range range = nullptr) {
    return {.op = op,
            .inputs = inputs,
            .types = types,
            .evaluate = evaluate,
            .infer = broadcast_types,
            .range = range,
            .elementwise = true};
}
constexpr OperatorRow extreme(std::string_view op, Evaluate evaluate, Range range) {
    OperatorRow row = row_of(op, {.least = 1}, Same, evaluate, range);
    row.takes_infinity = true;
    return row;
}
/// An elementwise one.
constexpr OperatorRow row_of(std::string_view op, TypeRule types, Evaluate evaluate,
                             Range range = nullptr, std::string_view attributes = {}) {
    return {.op = op,
            .inputs = {1, 1},
            .types = types,
            .evaluate = evaluate,
            .infer = own_type,
            .attributes = attributes,
            .range = range,
            .elementwise = true};
}

constexpr std::array rows{
    row_of("Add", {2, 2}, Same, combine_all<std::plus<>{}>, sum_range),
    row_of("Sub", {2, 2}, Same, combine_all<std::minus<>{}>, difference_range),
    row_of("Mul", {2, 2}, Same, combine_all<std::multiplies<>{}>),
    OperatorRow{.op = "Div",
                .inputs = {2, 2},
                .types = Same,
                .evaluate = divide,
                .infer = broadcast_types,
                .check = check_divisor,
                .elementwise = true},
    row_of("Pow", {2, 2}, Any, combine_all<[](double a, double b) { return std::pow(a, b); }>),
    extreme("Max", combine_all<[](double a, double b) { return std::max(a, b); }>, maximum_range),
    extreme("Min", combine_all<[](double a, double b) { return std::min(a, b); }>, minimum_range),
    row_of("Sum", {.least = 1}, Same, combine_all<std::plus<>{}>),
    row_of("Mean", {.least = 1}, Float, mean),
    row_of("Floor", Float, each<[](double x) { return std::floor(x); }>, rounded_range),
    row_of("Ceil", Float, each<[](double x) { return std::ceil(x); }>, rounded_range),
    // ties to even
    row_of("Round", Float, each<[](double x) { return std::nearbyint(x); }>, rounded_range),
    row_of("Neg", Same, each<std::negate<>{}>),
    row_of("Abs", Same, each<[](double x) { return std::abs(x); }>),
    row_of("Sqrt", Float, each<[](double x) { return std::sqrt(x); }>),
    row_of("Exp", Float, each<[](double x) { return std::exp(x); }>),
    row_of("Log", Float, each<[](double x) { return std::log(x); }>),
    row_of("Relu", Same, each<[](double x) { return std::max(x, 0.0); }>, positive_range),
    row_of("Elu", Float, elu, nullptr, "alpha"),
    row_of("Erf", Float, each<[](double x) { return std::erf(x); }>),
    row_of("PRelu", {2, 2}, Same,
           combine_all<[](double x, double slope) { return x < 0 ? x * slope : x; }>),
    row_of("LeakyRelu", Float, leaky_relu, nullptr, "alpha"),
    row_of("Sigmoid", Float, each<[](double x) { return 1.0 / (1.0 + std::exp(-x)); }>),
    row_of("HardSigmoid", Float, hard_sigmoid, nullptr, "alpha beta"),
    row_of("HardSwish", Float,
           each<[](double x) { return x * std::clamp(x / 6.0 + 0.5, 0.0, 1.0); }>),
    row_of("Swish", Float, swish, nullptr, "alpha"),
    row_of("Tanh", Float, each<[](double x) { return std::tanh(x); }>),
    OperatorRow{.op = "Clip",
                .inputs = {1, 3},
                .types = Same,
                .evaluate = clip,
                .infer = own_type,
                .attributes = "max min",
                .sizing = operand(1) | operand(2),
                .check = check_limits,
                .takes_infinity = true,
                .range = clipped_range,
                .elementwise = true},
    OperatorRow{.op = "Cast",
                .inputs = {1, 1},
                .evaluate = cast,
                .infer = cast_types,
                .attributes = "round_mode saturate to",
                .range = stored_range,
                .view = ViewRule::WhereNumbersFit},
    OperatorRow{.op = "CastLike",
                .inputs = {2, 2},
                .evaluate = cast_like,
                .infer = cast_like_types,
                .attributes = "saturate",
                .range = stored_range},
    OperatorRow{.op = "Identity",
                .inputs = {1, 1},
                .evaluate = identity,
                .infer = own_type,
                .range = range_of_first,
                .view = ViewRule::Always,
                .moves = true},
    OperatorRow{.op = "Dropout",
                .inputs = {1, 3},
                .evaluate = dropout,
                .infer = dropout_types,
                .attributes = "ratio seed",
                .sizing = operand(2),
                .check = check_dropout,
                .range = range_of_first,
                .view = ViewRule::Always},
    OperatorRow{.op = "BatchNormalization",
                .inputs = {5, 5},
                .types = Float,
                .evaluate = batch_normalise,
                .infer = batch_normalise_types,
                .attributes = "epsilon momentum spatial training_mode"},
    OperatorRow{.op = "Expand",
                .inputs = {2, 2},
                .evaluate = expand,
                .sizing = operand(1),
                .range = range_of_first,
                .moves = true}};

}  // namespace

std::span<const OperatorRow> elementwise_operators() { return rows; }

}  // namespace npuscope::host
