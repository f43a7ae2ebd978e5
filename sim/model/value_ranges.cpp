// SPDX-License-Identifier: Apache-2.0
#include "sim/model/value_ranges.h"

#include <cmath>
#include <limits>

#include "sim/model/operator_parts.h"

namespace npuscope {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

ValueRange range_of_results(const RangeOperands& operands) {
    const OperatorRow* row = find_operator(operands.node.op);
    if (row != nullptr && row->range != nullptr) {
        return row->range(operands);
    }
    const ElementType type = operands.result();
    return {!is_float(type), range_of(type), false};
}

bool cast_keeps_numbers(const RangeOperands& operands) {
    const ElementType type = operands.result();
    const auto known = operands.known.find(operands.node.inputs.front());
    if (known == operands.known.end() || !known->second.whole) {
        return false;
    }
    if (known->second.assumed) {
        return is_float(type);
    }
    const NumberRange range = range_of(type);
    return known->second.range.low >= range.low && known->second.range.high <= range.high;
}

}  // namespace

const ValueRange& RangeOperands::at(std::size_t index) const {
    static const ValueRange nothing{false, {-infinite, infinite}, false};
    const auto found = known.find(node.input(index));
    return found == known.end() ? nothing : found->second;
}

ValueRange range_of_values(const GraphValue& value) {
    ValueRange values{true, {infinite, -infinite}, false};
    for (const double number : value.numbers) {
        values.whole = values.whole && number == std::trunc(number);
        values.range = host::join_ranges(values.range, {number, number});
    }
    return values;
}

std::map<std::string, ValueRange> value_ranges(const Graph& graph,
                                               const std::map<std::string, ValueRange>& given) {
    std::map<std::string, ValueRange> ranges;
    for (const auto& [name, value] : graph.constants) {
        ranges[name] = range_of_values(value);
    }
    for (const std::string& input : graph.inputs) {
        const ElementType type = graph.types.at(input).element;
        ranges[input] = is_float(type) ? ValueRange{true, {-128, 255}, true}
                                       : ValueRange{true, range_of(type), false};
    }
    for (const auto& [input, values] : given) {
        ranges[input] = values;
    }
    for (const GraphNode& node : graph.nodes) {
        const ValueRange results = range_of_results({graph, node, ranges});
        for (const std::string& output : node.outputs) {
            ranges[output] = results;
        }
    }
    return ranges;
}

bool fits_bits(const NumberRange& range, unsigned bits) {
    const double span = std::ldexp(1.0, static_cast<int>(bits));
    return (range.low >= 0 && range.high <= span - 1) ||
           (range.low >= -span / 2 && range.high <= span / 2 - 1);
}

bool moves_nothing(const Graph& graph, const std::map<std::string, ValueRange>& ranges,
                   const GraphNode& node) {
    const OperatorRow* row = find_operator(node.op);
    return row != nullptr &&
           (row->view == ViewRule::Always ||
            (row->view == ViewRule::WhereNumbersFit && cast_keeps_numbers({graph, node, ranges})));
}

}  // namespace npuscope
