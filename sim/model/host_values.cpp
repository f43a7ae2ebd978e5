// SPDX-License-Identifier: Apache-2.0
#include "sim/model/host_values.h"

#include <fmt/format.h>

#include <cmath>

#include "sim/model/operators.h"
#include "sim/model/prepare_graph.h"

namespace npuscope {

bool host_knows(const GraphNode& node) {
    return find_operator(node.op) != nullptr && !node.has(unread_attribute);
}

void check_host_runs(const Graph& graph, const GraphNode& node) {
    if (!graph.by_shape && !host_knows(node)) {
        refuse_node(graph, node, "the host does not implement this operator",
                    "replace it in the model, or simulate timing only: --values off");
    }
}

std::optional<bool> HostValues::take_input(const std::string& name,
                                           const std::map<std::string, GraphValue>& inputs) {
    const TensorType& type = graph_.types.at(name);
    const auto found = inputs.find(name);
    if (found == inputs.end()) {
        throw ConfigError(fmt::format("there is no data for the input '{}'", name),
                          "give one .npy file per input, named after it");
    }
    GraphValue value = found->second;
    if (value.type.sizes != type.sizes) {
        throw ConfigError(fmt::format("input '{}' is {}, but the model takes {}", name,
                                      sizes_text(value.type.sizes), sizes_text(type.sizes)),
                          "give an array of the model's shape");
    }
    std::optional<bool> is_signed;
    if (!is_float(value.type.element)) {
        takes_integers_ = takes_integers_ || is_float(type.element);
    }
    if (const NumberRange given = range_of(value.type.element); fits_bits(given, 8)) {
        is_signed = given.low < 0;
    }
    const NumberRange range = range_of(type.element);
    for (const double number : value.numbers) {
        const bool fits = is_float(type.element) || (number == std::trunc(number) &&
                                                     number >= range.low && number <= range.high);
        if (!fits) {
            throw ConfigError(fmt::format("input '{}' holds {}, which {} cannot represent", name,
                                          number, enum_name(type.element)),
                              number >= 0 && number < 256 && type.element == ElementType::Int8
                                  ? "give an array of the model's element type; for pixels of 0 "
                                    "to 255: --mean 128"
                                  : "give an array of the model's element type");
        }
    }
    value.type = type;
    settle(value);
    put(name, std::move(value));
    return is_signed;
}

const GraphValue& HostValues::at(const std::string& tensor) const {
    const GraphValue* constant = graph_.constant(tensor);
    return constant != nullptr ? *constant : values_.at(tensor);
}

void HostValues::evaluate(const GraphNode& node) {
    check_host_runs(graph_, node);
    Operands operands{node, graph_.opset, {}};
    for (const std::string& input : node.inputs) {
        operands.values.push_back(input.empty() ? nullptr : &at(input));
    }
    Values results =
        at_node(graph_, node, [&] { return evaluate_outputs(*find_operator(node.op), operands); });
    for (std::size_t i = 0; i < results.size() && i < node.outputs.size(); ++i) {
        held_ += values_.contains(node.outputs[i]) ? 0 : results[i].numbers.size();
        if (held_ > most_held_elements) {
            refuse_node(graph_, node,
                        fmt::format("with its result, the host holds more than {} elements",
                                    most_held_elements),
                        "use a smaller model, or smaller inputs");
        }
        values_[node.outputs[i]] = std::move(results[i]);
    }
}

GraphValue HostValues::stored(const std::string& tensor, std::optional<bool> is_signed) const {
    GraphValue value = at(tensor);
    const auto facts = facts_.find(tensor);
    if (is_signed) {
        value.type.element = *is_signed ? ElementType::Int8 : ElementType::Uint8;
    } else if (takes_integers_ && is_float(value.type.element) && facts != facts_.end() &&
               facts->second.whole && !facts->second.assumed && fits_bits(facts->second.range, 8)) {
        value.type.element = facts->second.range.low < 0 ? ElementType::Int8 : ElementType::Uint8;
    }
    return value;
}

HostValues run_on_host(const Graph& graph, const std::map<std::string, GraphValue>& inputs,
                       ValueRanges facts) {
    HostValues values(graph, std::move(facts));
    for (const std::string& input : graph.inputs) {
        values.take_input(input, inputs);
    }
    for (const GraphNode& node : graph.nodes) {
        values.evaluate(node);
    }
    return values;
}

}  // namespace npuscope
