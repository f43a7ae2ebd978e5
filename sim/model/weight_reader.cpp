// SPDX-License-Identifier: Apache-2.0
#include "sim/model/weight_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/model/quantised_layer.h"

namespace npuscope {
namespace {

bool all_zero(const GraphValue& value) {
    return std::all_of(value.numbers.begin(), value.numbers.end(),
                       [](double number) { return number == 0; });
}

/// Takes a zero point off the weights: one number, or one per output channel.
void subtract_zero(GraphValue& weights, const GraphValue& zero, WeightOrder order) {
    const auto kernels = static_cast<std::size_t>(
        order == WeightOrder::Conv ? weights.type.sizes.front() : weights.type.sizes.back());
    const std::size_t step =
        order == WeightOrder::Conv ? weights.numbers.size() / std::max<std::size_t>(kernels, 1) : 1;
    for (std::size_t i = 0; i < weights.numbers.size(); ++i) {
        weights.numbers[i] -= zero.numbers[zero.numbers.size() == 1 ? 0 : i / step % kernels];
    }
}

void turn(GraphValue& matrix) {
    const auto rows = static_cast<std::size_t>(matrix.type.sizes[0]);
    const auto columns = static_cast<std::size_t>(matrix.type.sizes[1]);
    std::vector<double> turned(matrix.numbers.size());
    for (std::size_t i = 0; i < turned.size(); ++i) {
        turned[i] = matrix.numbers[i % rows * columns + i / rows];
    }
    matrix.numbers = std::move(turned);
    std::swap(matrix.type.sizes[0], matrix.type.sizes[1]);
}

void check_zero_points(const GraphView& view, Candidate& candidate, GraphValue& weights,
                       WeightOrder order) {
    const GraphNode& node = view.node(candidate.anchor);
    if (node.op != "ConvInteger" && node.op != "MatMulInteger") {
        return;
    }
    const GraphValue* data_zero = view.graph().constant(node.input(2));
    if (!node.input(2).empty() && (data_zero == nullptr || !all_zero(*data_zero))) {
        candidate.problems.push_back(broken_rule(node, "input_zero_point", "", "0",
                                                 "the input has a zero point that is not 0"));
    }
    const GraphValue* weight_zero = view.graph().constant(node.input(3));
    if (!node.input(3).empty() && weight_zero == nullptr) {
        candidate.problems.push_back(broken_rule(node, "weight_zero_point", "", "a constant",
                                                 "the zero point of the weights is not constant"));
    } else if (weight_zero != nullptr && !weight_zero->numbers.empty()) {
        subtract_zero(weights, *weight_zero, order);
    }
}

}  // namespace

GraphValue read_weights(const GraphView& view, Candidate& candidate, WeightOrder order) {
    const GraphNode& node = view.node(candidate.anchor);
    if (node.op.starts_with("QLinear")) {
        candidate.problems.push_back(
            broken_rule(node, "quantised_exact", "round half to even", "Floor",
                        node.text(not_exact_attribute, "the operator rounds to nearest")));
        return {};
    }
    const GraphValue* constant = view.graph().constant(node.inputs[1]);
    if (constant == nullptr) {
        const std::string reason = node.text(not_exact_attribute, "");
        candidate.problems.push_back(broken_rule(
            node, reason.empty() ? "weight_constant" : "quantised_exact", node.inputs[1],
            "a constant", reason.empty() ? "the weights are not constant" : reason));
        return {};
    }
    GraphValue weights = *constant;
    if (order == WeightOrder::Matrix) {
        if (weights.type.sizes.size() != 2) {
            candidate.problems.push_back(broken_rule(node, "weight_constant",
                                                     sizes_text(weights.type.sizes), "a matrix",
                                                     "the weights are not a matrix"));
            return {};
        }
        if (node.op == "Gemm" && node.integer("transB", 0) != 0) {
            turn(weights);
        }
    }
    check_zero_points(view, candidate, weights, order);
    return weights;
}

}  // namespace npuscope
