// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/tinpu/signed_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/base/error.h"
#include "models/layout/packed_surface.h"
#include "sim/model/prepare_graph.h"

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

void SignedValues::take_input(const std::string& name,
                              const std::map<std::string, GraphValue>& inputs) {
    if (const std::optional<bool> sign = values_.take_input(name, inputs)) {
        signs[name] = *sign;
    }
}

std::vector<std::uint8_t> SignedValues::map_bytes(const std::string& tensor,
                                                  const GraphNode& reader) {
    const GraphValue& value = values_.at(tensor);
    NumberRange range{0, 0};
    for (const double number : value.numbers) {
        if (number != std::trunc(number)) {
            refuse_node(
                graph_, reader,
                fmt::format("its input '{}' holds {}, which is not an integer", tensor, number),
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

void SignedValues::take_map(const std::string& tensor, const Tensor<std::int32_t>& map) {
    GraphValue value = zeros(graph_.types.at(tensor));
    std::copy(map.values.begin(), map.values.end(), value.numbers.begin());
    values_.put(tensor, std::move(value));
}

GraphValue SignedValues::stored_output(const std::string& output) const {
    const auto sign = signs.find(output);
    return values_.stored(output, sign == signs.end() ? std::nullopt : std::optional(sign->second));
}

}  // namespace npuscope
