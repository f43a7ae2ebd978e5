// SPDX-License-Identifier: Apache-2.0
#include "sim/layers/layer_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/base/error.h"
#include "models/data/packed_surface.h"
#include "sim/host/prepare_graph.h"

namespace npuscope {
namespace {

/// A map as bytes: a tensor of 2 to 4 sizes with a batch of 1.
Tensor<std::int32_t> cube_of(const GraphValue& value) {
    Sizes sizes = value.type.sizes;
    sizes.resize(std::max<std::size_t>(sizes.size(), 4), 1);
    const auto size = [&](std::size_t i) { return static_cast<std::uint32_t>(sizes[i]); };
    Tensor<std::int32_t> cube({size(1), size(2), size(3)});
    std::transform(value.numbers.begin(), value.numbers.end(), cube.values.begin(),
                   [](double number) { return static_cast<std::int32_t>(number); });
    return cube;
}

}  // namespace

void LayerValues::take_input(const std::string& name,
                             const std::map<std::string, GraphValue>& inputs) {
    const TensorType& type = graph_.types.at(name);
    const auto found = inputs.find(name);
    if (found == inputs.end()) {
        throw ConfigError(fmt::format("there are no numbers for the input '{}'", name),
                          "give one .npy file per input, named after it");
    }
    GraphValue value = found->second;
    if (value.type.sizes != type.sizes) {
        throw ConfigError(fmt::format("input '{}' is {}, but the model takes {}", name,
                                      sizes_text(value.type.sizes), sizes_text(type.sizes)),
                          "give an array of the model's sizes");
    }
    const NumberRange given = range_of(value.type.element);
    if (!is_float(value.type.element)) {
        signs[name] = given.low < 0;
    }
    const NumberRange range = range_of(type.element);
    for (const double number : value.numbers) {
        const bool fits = is_float(type.element) || (number == std::trunc(number) &&
                                                     number >= range.low && number <= range.high);
        if (!fits) {
            throw ConfigError(fmt::format("input '{}' holds {}, which is no {}", name, number,
                                          enum_name(type.element)),
                              "give numbers of the model's own type");
        }
    }
    value.type = type;
    settle(value);
    values_[name] = std::move(value);
}

std::vector<std::uint8_t> LayerValues::map_bytes(const std::string& tensor,
                                                 const GraphNode& reader) {
    const GraphValue* constant = graph_.constant(tensor);
    const GraphValue& value = constant != nullptr ? *constant : values_.at(tensor);
    NumberRange range{0, 0};
    for (const double number : value.numbers) {
        if (number != std::trunc(number)) {
            refuse_node(graph_, reader,
                        fmt::format("its input '{}' holds {}, which is no integer", tensor, number),
                        "feature maps hold 8-bit integers");
        }
        range = {std::min(range.low, number), std::max(range.high, number)};
    }
    const auto known = signs.find(tensor);
    const bool is_signed = known != signs.end() ? known->second : range.low < 0;
    const NumberRange limits = is_signed ? NumberRange{-128, 127} : NumberRange{0, 255};
    if (range.low < limits.low || range.high > limits.high) {
        refuse_node(graph_, reader,
                    fmt::format("its input '{}' holds numbers from {} to {}", tensor, range.low,
                                range.high),
                    "feature maps hold 8-bit integers, signed or unsigned");
    }
    signs[tensor] = is_signed;
    return store_map(cube_of(value));
}

void LayerValues::take_map(const std::string& tensor, const Tensor<std::int32_t>& map) {
    GraphValue value = zeros(graph_.types.at(tensor));
    std::copy(map.values.begin(), map.values.end(), value.numbers.begin());
    values_[tensor] = std::move(value);
}

void LayerValues::evaluate(const OperatorRow& row, const GraphNode& node) {
    Operands operands{node, graph_.opset, {}};
    for (const std::string& input : node.inputs) {
        const GraphValue* constant = graph_.constant(input);
        operands.values.push_back(input.empty()         ? nullptr
                                  : constant != nullptr ? constant
                                                        : &values_.at(input));
    }
    Values results = at_node(graph_, node, [&] { return evaluate_outputs(row, operands); });
    for (std::size_t i = 0; i < results.size() && i < node.outputs.size(); ++i) {
        values_[node.outputs[i]] = std::move(results[i]);
    }
}

GraphValue LayerValues::stored_output(const std::string& output) const {
    const GraphValue* constant = graph_.constant(output);
    GraphValue value = constant != nullptr ? *constant : values_.at(output);
    const auto sign = signs.find(output);
    const auto facts = facts_.find(output);
    if (sign != signs.end()) {
        value.type.element = sign->second ? ElementType::Int8 : ElementType::Uint8;
    } else if (is_float(value.type.element) && facts != facts_.end() && facts->second.whole &&
               !facts->second.assumed && fits_bits(facts->second.range, 8)) {
        value.type.element = facts->second.range.low < 0 ? ElementType::Int8 : ElementType::Uint8;
    }
    return value;
}

}  // namespace npuscope
