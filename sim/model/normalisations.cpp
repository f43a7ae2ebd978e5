// SPDX-License-Identifier: Apache-2.0
// Operators that normalise maps: over planes, groups of channels, neighbouring channels, axes.
// source: ONNX operator definitions, opset 7 to 24
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

#include "sim/config/text_table.h"
#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

/// Values minus their mean, divided by their standard deviation.
void normalise(std::span<double> numbers, double epsilon) {
    const double count = static_cast<double>(numbers.size());
    const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / count;
    double variance = 0;
    for (const double number : numbers) {
        variance += (number - mean) * (number - mean) / count;
    }
    const double scale = 1 / std::sqrt(variance + epsilon);
    for (double& number : numbers) {
        number = (number - mean) * scale;
    }
}

void require_channels(const Operands& operands) {
    require(operands.sizes(0).size() >= 3, "its input has no planes", "the input must be NCHW");
}

// operands: map, scale, bias, per channel
Values instance_normalise(const Operands& operands) {
    require_channels(operands);
    GraphValue result = operands.at(0);
    const std::size_t channels = unsigned_of(result.type.sizes[1]);
    const std::size_t plane = steps_of(result.type.sizes)[1];
    require(operands.at(1).numbers.size() == channels && operands.at(2).numbers.size() == channels,
            fmt::format("its scale and bias do not have {}", counted(channels, "number")),
            "give one per channel");
    const double epsilon = operands.node.number("epsilon", 1e-5);
    for (std::size_t i = 0; plane != 0 && i < result.numbers.size() / plane; ++i) {
        const auto numbers = std::span(result.numbers).subspan(i * plane, plane);
        normalise(numbers, epsilon);
        for (double& number : numbers) {
            number = number * operands.at(1).numbers[i % channels] +
                     operands.at(2).numbers[i % channels];
        }
    }
    return {std::move(result)};
}

// operands: map, scale, bias, per group (opset 18) or per channel (opset 21)
Values group_normalise(const Operands& operands) {
    require_channels(operands);
    GraphValue result = operands.at(0);
    const std::size_t channels = unsigned_of(result.type.sizes[1]);
    const std::size_t plane = steps_of(result.type.sizes)[1];
    const std::int64_t groups = operands.node.integer("num_groups", 0);
    require(
        groups >= 1 && result.type.sizes[1] % groups == 0,
        fmt::format("attribute 'num_groups' is {}, the number of channels {}", groups, channels),
        "'num_groups' must divide the number of channels");
    const std::size_t members = channels / unsigned_of(groups);
    const std::size_t given = operands.at(1).numbers.size();
    require((given == channels || given == unsigned_of(groups)) &&
                operands.at(2).numbers.size() == given,
            "its scale and bias fit neither groups nor channels", "give one for each");
    const std::size_t block = members * plane;
    for (std::size_t i = 0; block != 0 && i < result.numbers.size() / block; ++i) {
        normalise(std::span(result.numbers).subspan(i * block, block),
                  operands.node.number("epsilon", 1e-5));
    }
    for (std::size_t i = 0; i < result.numbers.size(); ++i) {
        const std::size_t channel = i / plane % channels;
        const std::size_t own = given == channels ? channel : channel / members;
        result.numbers[i] =
            result.numbers[i] * operands.at(1).numbers[own] + operands.at(2).numbers[own];
    }
    return {std::move(result)};
}

// operands: map, scale, bias; results: the map, the mean and 1 / deviation of each part
Types layer_types(const Operands& operands) {
    const Sizes& sizes = operands.sizes(0);
    const std::size_t axis = axis_index(operands.node.integer("axis", -1), sizes.size());
    for (std::size_t i = 1; i < operands.values.size(); ++i) {
        require(!operands.has(i) || common_sizes(operands.sizes(i), sizes) == sizes,
                fmt::format("its scale or bias of {} has more elements than its input of {}",
                            sizes_text(operands.sizes(i)), sizes_text(sizes)),
                "give one number for each normalised element, or one for several of them");
    }
    Sizes parts(sizes.size(), 1);
    std::copy_n(sizes.begin(), axis, parts.begin());
    const TensorType statistics{ElementType::Float32, parts};
    return {operands.at(0).type, statistics, statistics};
}

Values layer_normalise(const Operands& operands) {
    Values results{operands.at(0)};
    const Types types = layer_types(operands);
    results.push_back(zeros(types[1]));
    results.push_back(zeros(types[2]));
    std::vector<double>& all = results[0].numbers;
    const std::size_t size = all.size() / std::max<std::size_t>(results[1].numbers.size(), 1);
    const double epsilon = operands.node.number("epsilon", 1e-5);
    for (std::size_t part = 0; part < results[1].numbers.size(); ++part) {
        const auto numbers = std::span(all).subspan(part * size, size);
        const double count = static_cast<double>(size);
        const double mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / count;
        double variance = 0;
        for (const double number : numbers) {
            variance += (number - mean) * (number - mean) / count;
        }
        const double deviation = std::sqrt(variance + epsilon);
        for (double& number : numbers) {
            number = (number - mean) / deviation;
        }
        results[1].numbers[part] = mean;
        results[2].numbers[part] = 1 / deviation;
    }
    results[0] = combine(results[0], operands.at(1), std::multiplies<>{});
    if (operands.has(2)) {
        results[0] = combine(results[0], operands.at(2), std::plus<>{});
    }
    return results;
}

// operands: map, scale
Types root_types(const Operands& operands) { return {layer_types(operands).front()}; }
/// By the root of the mean of squares.
Values root_normalise(const Operands& operands) {
    GraphValue result = operands.at(0);
    const std::size_t parts = count_elements(layer_types(operands)[1].sizes);
    const std::size_t size = result.numbers.size() / std::max<std::size_t>(parts, 1);
    const double epsilon = operands.node.number("epsilon", 1e-5);
    for (std::size_t part = 0; part < parts; ++part) {
        const auto numbers = std::span(result.numbers).subspan(part * size, size);
        const double squares =
            std::inner_product(numbers.begin(), numbers.end(), numbers.begin(), 0.0);
        const double root = std::sqrt(squares / static_cast<double>(size) + epsilon);
        for (double& number : numbers) {
            number /= root;
        }
    }
    return {combine(result, operands.at(1), std::multiplies<>{})};
}

/// Over all axes of attribute 'axes'.
Values mean_variance_normalise(const Operands& operands) {
    GraphValue result = operands.at(0);
    const Sizes& sizes = result.type.sizes;
    Sizes kept = sizes;
    const Sizes axes = operands.node.has("axes") ? operands.node.integers("axes") : Sizes{0, 2, 3};
    for (const std::int64_t axis : axes) {
        kept[axis_index(axis, sizes.size())] = 1;
    }
    const std::vector<std::size_t> part = broadcast_indices(kept, sizes);
    std::vector<double> means(count_elements(kept), 0.0);
    std::vector<double> variances(means.size(), 0.0);
    const double count = static_cast<double>(result.numbers.size()) /
                         std::max(static_cast<double>(means.size()), 1.0);
    for (std::size_t i = 0; i < part.size(); ++i) {
        means[part[i]] += result.numbers[i] / count;
    }
    for (std::size_t i = 0; i < part.size(); ++i) {
        const double distance = result.numbers[i] - means[part[i]];
        variances[part[i]] += distance * distance / count;
    }
    constexpr double epsilon = 1e-9;  // source: ONNX, MeanVarianceNormalization, function body
    for (std::size_t i = 0; i < part.size(); ++i) {
        result.numbers[i] =
            (result.numbers[i] - means[part[i]]) / (std::sqrt(variances[part[i]]) + epsilon);
    }
    return {std::move(result)};
}

/// Across neighbouring channels.
Values local_response(const Operands& operands) {
    require_channels(operands);
    const GraphValue& input = operands.at(0);
    const std::int64_t size = operands.node.integer("size", 0);
    require(size >= 1, "it has no size",
            "set attribute 'size' to the number of channels, at least 1");
    const double alpha = operands.node.number("alpha", 1e-4);
    const double beta = operands.node.number("beta", 0.75);
    const double bias = operands.node.number("bias", 1.0);
    const std::int64_t channels = input.type.sizes[1];
    const std::size_t plane = steps_of(input.type.sizes)[1];
    require_work({input.numbers.size(), unsigned_of(std::min(size, channels))});
    return {fill(input.type, [&](std::size_t i) {
        const std::int64_t c = static_cast<std::int64_t>(i / plane) % channels;
        const std::int64_t first = std::max<std::int64_t>(0, c - (size - 1) / 2);
        const std::int64_t last = std::min(channels - 1, c + size / 2);
        double squares = 0;
        for (std::int64_t k = first; k <= last; ++k) {
            const std::int64_t at =
                static_cast<std::int64_t>(i) + (k - c) * static_cast<std::int64_t>(plane);
            const double number = input.numbers[unsigned_of(at)];
            squares += number * number;
        }
        const double base = bias + alpha / static_cast<double>(size) * squares;
        return input.numbers[i] / std::pow(base, beta);
    })};
}

/// Along one axis, by the sum of absolute values (p 1) or the root of squares (p 2).
Values unit_length(const Operands& operands) {
    GraphValue result = operands.at(0);
    const Sizes& sizes = result.type.sizes;
    const std::size_t axis = axis_index(operands.node.integer("axis", -1), sizes.size());
    const std::int64_t p = operands.node.integer("p", 2);
    require(p == 1 || p == 2, fmt::format("p is {}", p), "it must be 1 or 2");
    const std::size_t step = steps_of(sizes)[axis];
    const std::size_t length = unsigned_of(sizes[axis]);
    for (std::size_t i = 0; length != 0 && i < result.numbers.size() / length; ++i) {
        double* row = result.numbers.data() + i / step * step * length + i % step;
        double sum = 0;
        for (std::size_t k = 0; k < length; ++k) {
            sum += p == 1 ? std::abs(row[k * step]) : row[k * step] * row[k * step];
        }
        const double norm = p == 1 ? sum : std::sqrt(sum);
        for (std::size_t k = 0; k < length && norm != 0; ++k) {
            row[k * step] /= norm;
        }
    }
    return {std::move(result)};
}

constexpr OperatorRow norm(std::string_view op, InputCount inputs, Evaluate evaluate) {
    return row(op, inputs, evaluate) | float_types | inferring(own_type);
}

}  // namespace

std::span<const OperatorRow> normalisation_operators() {
    static constexpr std::array rows{
        row("LayerNormalization", {2, 3}, layer_normalise) | float_types | inferring(layer_types) |
            attributes("axis epsilon stash_type"),
        row("RMSNormalization", {2, 2}, root_normalise) | float_types | inferring(root_types) |
            attributes("axis epsilon stash_type"),
        norm("MeanVarianceNormalization", {1, 1}, mean_variance_normalise) | attributes("axes"),
        norm("InstanceNormalization", {3, 3}, instance_normalise) | attributes("epsilon"),
        norm("GroupNormalization", {3, 3}, group_normalise) |
            attributes("epsilon num_groups stash_type"),
        norm("LRN", {1, 1}, local_response) | attributes("alpha beta bias size"),
        norm("LpNormalization", {1, 1}, unit_length) | attributes("axis p")};
    return rows;
}

}  // namespace npuscope::host
