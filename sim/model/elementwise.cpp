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

/// An operator with broadcast operands.
constexpr OperatorRow broadcast(std::string_view op, InputCount inputs, Evaluate evaluate) {
    return row(op, inputs, evaluate) | inferring(broadcast_types) | elementwise;
}
constexpr OperatorRow extreme(std::string_view op, Evaluate evaluate, Range range) {
    return broadcast(op, {.least = 1}, evaluate) | same_types | takes_infinity | ranging(range);
}

}  // namespace

std::span<const OperatorRow> elementwise_operators() {
    static constexpr std::array rows{
        broadcast("Add", {2, 2}, combine_all<std::plus<>{}>) | same_types | ranging(sum_range),
        broadcast("Sub", {2, 2}, combine_all<std::minus<>{}>) | same_types |
            ranging(difference_range),
        broadcast("Mul", {2, 2}, combine_all<std::multiplies<>{}>) | same_types,
        row("Div", {2, 2}, divide) | same_types | inferring(broadcast_types) |
            checking(check_divisor) | elementwise,
        broadcast("Pow", {2, 2}, combine_all<[](double a, double b) { return std::pow(a, b); }>),
        extreme("Max", combine_all<[](double a, double b) { return std::max(a, b); }>,
                maximum_range),
        extreme("Min", combine_all<[](double a, double b) { return std::min(a, b); }>,
                minimum_range),
        broadcast("Sum", {.least = 1}, combine_all<std::plus<>{}>) | same_types,
        broadcast("Mean", {.least = 1}, mean) | float_types,
        function("Floor", each<[](double x) { return std::floor(x); }>) | float_types |
            ranging(rounded_range),
        function("Ceil", each<[](double x) { return std::ceil(x); }>) | float_types |
            ranging(rounded_range),
        // ties to even
        function("Round", each<[](double x) { return std::nearbyint(x); }>) | float_types |
            ranging(rounded_range),
        function("Neg", each<std::negate<>{}>) | same_types,
        function("Abs", each<[](double x) { return std::abs(x); }>) | same_types,
        function("Sqrt", each<[](double x) { return std::sqrt(x); }>) | float_types,
        function("Exp", each<[](double x) { return std::exp(x); }>) | float_types,
        function("Log", each<[](double x) { return std::log(x); }>) | float_types,
        function("Relu", each<[](double x) { return std::max(x, 0.0); }>) | same_types |
            ranging(positive_range),
        function("Elu", elu) | float_types | attributes("alpha"),
        function("Erf", each<[](double x) { return std::erf(x); }>) | float_types,
        broadcast("PRelu", {2, 2},
                  combine_all<[](double x, double slope) { return x < 0 ? x * slope : x; }>) |
            same_types,
        function("LeakyRelu", leaky_relu) | float_types | attributes("alpha"),
        function("Sigmoid", each<[](double x) { return 1.0 / (1.0 + std::exp(-x)); }>) |
            float_types,
        function("HardSigmoid", hard_sigmoid) | float_types | attributes("alpha beta"),
        function("HardSwish",
                 each<[](double x) { return x * std::clamp(x / 6.0 + 0.5, 0.0, 1.0); }>) |
            float_types,
        function("Swish", swish) | float_types | attributes("alpha"),
        function("Tanh", each<[](double x) { return std::tanh(x); }>) | float_types,
        row("Clip", {1, 3}, clip) | same_types | inferring(own_type) | attributes("max min") |
            sized_by(1, 2) | checking(check_limits) | takes_infinity | ranging(clipped_range) |
            elementwise,
        row("Cast", {1, 1}, cast) | inferring(cast_types) | attributes("round_mode saturate to") |
            ranging(stored_range) | views(ViewRule::WhereNumbersFit),
        row("CastLike", {2, 2}, cast_like) | inferring(cast_like_types) | attributes("saturate") |
            ranging(stored_range),
        row("Identity", {1, 1}, identity) | inferring(own_type) | moves | views(ViewRule::Always),
        row("Dropout", {1, 3}, dropout) | inferring(dropout_types) | attributes("ratio seed") |
            sized_by(2) | checking(check_dropout) | first_range | views(ViewRule::Always),
        row("BatchNormalization", {5, 5}, batch_normalise) | float_types |
            inferring(batch_normalise_types) | attributes("epsilon momentum spatial training_mode"),
        row("Expand", {2, 2}, expand) | sized_by(1) | moves};
    return rows;
}

}  // namespace npuscope::host
