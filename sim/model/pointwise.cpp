// SPDX-License-Identifier: Apache-2.0
// Operators that take every element by itself.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/model/operand_reading.h"
#include "sim/model/operator_families.h"

namespace npuscope::host {
namespace {

template <class Operation>
Values map(const Operands& operands, Operation operation) {
    const GraphValue& input = operands.at(0);
    return {fill(input.type, [&](std::size_t i) { return operation(input.numbers[i]); })};
}

ElementType cast_target(std::int64_t number) {
    switch (number) {  // source: onnx.proto, TensorProto.DataType
        case 1:
            return ElementType::Float32;
        case 2:
            return ElementType::Uint8;
        case 3:
            return ElementType::Int8;
        case 4:
            return ElementType::Uint16;
        case 5:
            return ElementType::Int16;
        case 6:
            return ElementType::Int32;
        case 7:
            return ElementType::Int64;
        case 9:
            return ElementType::Bool;
        case 11:
            return ElementType::Float64;
        case 12:
            return ElementType::Uint32;
        case 13:
            return ElementType::Uint64;
        default:
            throw ConfigError(fmt::format("it casts to element type {}", number),
                              "cast to float32, float64, bool or an integer type");
    }
}

/// A limit of Clip: an operand from opset 11 on, an attribute before.
double limit(const Operands& operands, std::size_t index, const char* attribute, double fallback) {
    if (operands.has(index)) {
        return scalar_of(operands.at(index), attribute);
    }
    return operands.opset < 11 ? operands.node.number(attribute, fallback) : fallback;
}

}  // namespace

Types own_type(const Operands& operands) { return {operands.at(0).type}; }

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

}  // namespace npuscope::host
