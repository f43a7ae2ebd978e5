// SPDX-License-Identifier: Apache-2.0
// What is known of a graph's values before anything runs.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/model/operator_parts.h"
#include "sim/model/operators.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

ValueRange range_of_type(ElementType type) { return {!is_float(type), range_of(type), false}; }

ValueRange range_of_results(const RangeOperands& operands) {
    const OperatorRow* row = find_operator(operands.node.op);
    if (row != nullptr && row->range != nullptr) {
        return row->range(operands);
    }
    return range_of_type(operands.result());
}

bool cast_keeps_numbers(const GraphView& model, const GraphNode& node) {
    const ElementType type = model.graph().types.at(node.outputs.front()).element;
    const ValueRange* known = model.range(node.inputs.front());
    if (known == nullptr || !known->whole) {
        return false;
    }
    const NumberRange range = range_of(type);
    return known->assumed ? is_float(type)
                          : known->range.low >= range.low && known->range.high <= range.high;
}

/// Of given values.
ValueRange range_of_values(const GraphValue& value) {
    ValueRange values{true, {infinite, -infinite}, false};
    for (const double number : value.numbers) {
        values.whole = values.whole && number == std::trunc(number);
        values.range = host::join_ranges(values.range, {number, number});
    }
    return values;
}

}  // namespace

bool takes_reals(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const GraphNode& node) {
        const bool halves =
            node.op == "Cast" && node.integer("to", 0) == element_row(ElementType::Float16).onnx;
        return halves || node.op == "QuantizeLinear";
    });
}

ValueRanges value_ranges(const Graph& graph, const ValueRanges& given) {
    ValueRanges ranges;
    const bool reals = takes_reals(graph);
    for (const auto& [name, value] : graph.constants) {
        ranges[name] = range_of_values(value);
    }
    for (const std::string& input : graph.inputs) {
        const ElementType type = graph.types.at(input).element;
        const bool assumed = is_float(type) && !reals;
        ranges[input] = assumed ? ValueRange{true, {-128, 255}, true}
                                : ValueRange{!is_float(type), range_of(type), false};
    }
    for (const auto& [input, values] : given) {
        ranges[input] = values;
    }
    for (const GraphNode& node : graph.nodes) {
        const ValueRange results = range_of_results({graph, node, ranges});
        for (const std::string& output : node.outputs) {
            const auto type = graph.types.find(output);
            const bool shares = output == node.outputs[0] || node.op == "Split";
            if (shares) {
                ranges[output] = results;
            } else if (type != graph.types.end()) {
                ranges[output] = range_of_type(type->second.element);
            }
        }
    }
    return ranges;
}

bool moves_nothing(const GraphView& model, const GraphNode& node) {
    const OperatorRow* row = find_operator(node.op);
    return row != nullptr && node.outputs.size() == 1 &&
           (row->view == ViewRule::Always ||
            (row->view == ViewRule::WhereNumbersFit && cast_keeps_numbers(model, node)));
}

}  // namespace npuscope
