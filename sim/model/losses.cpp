// SPDX-License-Identifier: Apache-2.0
// Losses that exported models may end in.
// source: ONNX operator definitions, opset 12 to 24
#include <fmt/format.h>

#include <array>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

bool is_reduced(const GraphNode& node) {
    const std::string reduction = node.text("reduction", "mean");
    require(reduction == "none" || reduction == "sum" || reduction == "mean",
            fmt::format("reduction '{}' is not known", reduction), "none, sum or mean");
    return reduction != "none";
}

// operands: scores N C .., class of each position, weight of each class
Types loss_types(const Operands& operands) {
    require_float(operands, 0);
    if (operands.has(2)) {
        require_float(operands, 2);
    }
    const Sizes& scores = operands.sizes(0);
    require(scores.size() >= 2, fmt::format("its input is {}", sizes_text(scores)),
            "inputs must be NC or NC..");
    Sizes positions = scores;
    positions.erase(positions.begin() + 1);
    require(operands.sizes(1) == positions,
            fmt::format("its classes are {}", sizes_text(operands.sizes(1))),
            fmt::format("they must be {}", sizes_text(positions)));
    require(!operands.has(2) || operands.sizes(2) == Sizes{scores[1]},
            "it does not have one weight per class", fmt::format("give {}", scores[1]));
    return {{operands.element(0), is_reduced(operands.node) ? Sizes{} : positions}};
}

/// Minus the logarithm that each position has for its class, weighted.
GraphValue loss_of(const Operands& operands, const GraphValue& logarithms) {
    GraphValue result = zeros(loss_types(operands).front());
    const Sizes& sizes = logarithms.type.sizes;
    const std::size_t plane = steps_of(sizes)[1];
    const bool reduced = is_reduced(operands.node);
    const bool ignores = operands.node.has("ignore_index");
    const std::int64_t ignored = operands.node.integer("ignore_index", 0);
    double weights = 0;
    for (std::size_t i = 0; i < operands.at(1).numbers.size(); ++i) {
        const std::int64_t own = to_integer(operands.at(1).numbers[i]);
        if (ignores && own == ignored) {
            continue;
        }
        require(own >= 0 && own < sizes[1], fmt::format("class {} does not exist", own),
                fmt::format("classes are 0 to {}", sizes[1] - 1));
        const std::size_t place =
            (i / plane * unsigned_of(sizes[1]) + unsigned_of(own)) * plane + i % plane;
        const double weight = operands.has(2) ? operands.at(2).numbers[unsigned_of(own)] : 1.0;
        weights += weight;
        result.numbers[reduced ? 0 : i] -= weight * logarithms.numbers[place];
    }
    if (operands.node.text("reduction", "mean") == "mean") {
        result.numbers[0] /= weights;
    }
    return result;
}

Values likelihood_loss(const Operands& operands) { return {loss_of(operands, operands.at(0))}; }

// results: loss, logarithms of the softmax
Types entropy_types(const Operands& operands) {
    Types types = loss_types(operands);
    types.push_back(operands.at(0).type);
    return types;
}
Values entropy_loss(const Operands& operands) {
    entropy_types(operands);
    GraphValue logarithms = operands.at(0);
    const std::size_t plane = steps_of(logarithms.type.sizes)[1];
    const std::size_t classes = unsigned_of(logarithms.type.sizes[1]);
    for (std::size_t i = 0; i < operands.at(1).numbers.size() && classes > 0; ++i) {
        take_log_softmax(logarithms.numbers.data() + i / plane * classes * plane + i % plane, plane,
                         classes);
    }
    GraphValue loss = loss_of(operands, logarithms);
    return {std::move(loss), std::move(logarithms)};
}

constexpr OperatorRow loss(std::string_view op, Evaluate evaluate, Infer infer) {
    return row(op, {2, 3}, evaluate) | inferring(infer) | attributes("ignore_index reduction");
}

}  // namespace

std::span<const OperatorRow> loss_operators() {
    static constexpr std::array rows{loss("NegativeLogLikelihoodLoss", likelihood_loss, loss_types),
                                     loss("SoftmaxCrossEntropyLoss", entropy_loss, entropy_types)};
    return rows;
}

}  // namespace npuscope::host
