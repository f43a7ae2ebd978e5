// SPDX-License-Identifier: Apache-2.0
#include "sim/model/number_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace npuscope {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

NumberRange join(const NumberRange& a, const NumberRange& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

NumberFacts facts_of(const GraphValue& value) {
    NumberFacts facts{true, {infinite, -infinite}, false};
    for (const double number : value.numbers) {
        facts.whole = facts.whole && number == std::trunc(number);
        facts.range = join(facts.range, {number, number});
    }
    return facts;
}

/// Operators that give some of their first input's numbers.
bool only_moves(const std::string& op) {
    static const std::set<std::string> ops{
        "Reshape", "Flatten",  "Squeeze",   "Unsqueeze", "Transpose",    "Slice",
        "Split",   "Gather",   "Expand",    "MaxPool",   "Identity",     "Dropout",
        "Resize",  "Upsample", "ReduceMax", "ReduceMin", "GlobalMaxPool"};
    return ops.contains(op);
}

class FactWalk {
 public:
    FactWalk(const Graph& graph, const std::map<std::string, NumberFacts>& given) : graph_(graph) {
        for (const auto& [name, value] : graph.constants) {
            facts_[name] = facts_of(value);
        }
        for (const std::string& input : graph.inputs) {
            const ElementType type = graph.types.at(input).element;
            facts_[input] = is_float(type) ? NumberFacts{true, {-128, 255}, true}
                                           : NumberFacts{true, range_of(type), false};
        }
        for (const auto& [input, facts] : given) {
            facts_[input] = facts;
        }
    }

    std::map<std::string, NumberFacts> walk() {
        for (const GraphNode& node : graph_.nodes) {
            const NumberFacts facts = facts_behind(node);
            for (const std::string& output : node.outputs) {
                facts_[output] = facts;
            }
        }
        return std::move(facts_);
    }

 private:
    const NumberFacts& of(const GraphNode& node, std::size_t input) const {
        static const NumberFacts nothing{false, {-infinite, infinite}, false};
        const auto found = facts_.find(node.input(input));
        return found == facts_.end() ? nothing : found->second;
    }

    NumberFacts facts_behind(const GraphNode& node) const {
        const NumberFacts& first = of(node, 0);
        if (only_moves(node.op)) {
            return first;
        }
        if (node.op == "Floor" || node.op == "Ceil" || node.op == "Round") {
            return {true, {std::floor(first.range.low), std::ceil(first.range.high)}, false};
        }
        if (node.op == "Concat" || node.op == "Max" || node.op == "Min" || node.op == "Pad") {
            return joined(node);
        }
        if (node.op == "Clip" || node.op == "Relu") {
            return clipped(node, first);
        }
        if (node.op == "Cast" || node.op == "QuantizeLinear") {
            return stored(node, first);
        }
        if (node.op == "Add" || node.op == "Sub") {
            return summed(node);
        }
        const ElementType type = graph_.types.at(node.outputs.front()).element;
        return {!is_float(type), range_of(type), false};
    }

    NumberFacts joined(const GraphNode& node) const {
        NumberFacts facts = of(node, 0);
        const std::size_t count = node.op == "Pad" ? 0 : node.inputs.size();
        for (std::size_t i = 1; i < count; ++i) {
            facts.whole = facts.whole && of(node, i).whole;
            facts.range = limit(node.op, facts.range, of(node, i).range);
            facts.assumed = facts.assumed || of(node, i).assumed;
        }
        if (node.op == "Pad") {
            const double value = node.inputs.size() > 2 && graph_.is_constant(node.inputs[2])
                                     ? graph_.constant(node.inputs[2])->numbers.front()
                                     : node.number("value", 0);
            facts.whole = facts.whole && value == std::trunc(value);
            facts.range = join(facts.range, {value, value});
        }
        return facts;
    }

    static NumberRange limit(const std::string& op, const NumberRange& a, const NumberRange& b) {
        if (op == "Max") {
            return {std::max(a.low, b.low), std::max(a.high, b.high)};
        }
        if (op == "Min") {
            return {std::min(a.low, b.low), std::min(a.high, b.high)};
        }
        return join(a, b);
    }

    NumberFacts clipped(const GraphNode& node, const NumberFacts& first) const {
        const auto bound = [&](std::size_t operand, const char* attribute, double fallback) {
            const GraphValue* value = graph_.constant(node.input(operand));
            return value != nullptr && !value->numbers.empty() ? value->numbers.front()
                                                               : node.number(attribute, fallback);
        };
        const bool relu = node.op == "Relu";
        const double low = relu ? 0 : bound(1, "min", -infinite);
        const double high = relu ? infinite : bound(2, "max", infinite);
        const auto whole_bound = [](double x) { return !std::isfinite(x) || x == std::trunc(x); };
        return {first.whole && whole_bound(low) && whole_bound(high),
                {std::clamp(first.range.low, low, std::max(low, high)),
                 std::clamp(first.range.high, low, std::max(low, high))},
                first.assumed};
    }

    NumberFacts stored(const GraphNode& node, const NumberFacts& first) const {
        const ElementType type = graph_.types.at(node.outputs.front()).element;
        if (is_float(type)) {
            return first;
        }
        const NumberRange range = range_of(type);
        const bool fits = first.range.low >= range.low && first.range.high <= range.high;
        return {true, fits ? first.range : range, fits && first.assumed};
    }

    NumberFacts summed(const GraphNode& node) const {
        const NumberFacts& a = of(node, 0);
        const NumberFacts& b = of(node, 1);
        const NumberRange range =
            node.op == "Add" ? NumberRange{a.range.low + b.range.low, a.range.high + b.range.high}
                             : NumberRange{a.range.low - b.range.high, a.range.high - b.range.low};
        return {a.whole && b.whole, range, false};
    }

    const Graph& graph_;
    std::map<std::string, NumberFacts> facts_;
};

}  // namespace

std::map<std::string, NumberFacts> number_facts(const Graph& graph,
                                                const std::map<std::string, NumberFacts>& given) {
    return FactWalk(graph, given).walk();
}

bool fits_bits(const NumberRange& range, unsigned bits) {
    const double span = std::ldexp(1.0, static_cast<int>(bits));
    return (range.low >= 0 && range.high <= span - 1) ||
           (range.low >= -span / 2 && range.high <= span / 2 - 1);
}

}  // namespace npuscope
