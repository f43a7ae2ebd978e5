// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/map_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/base/check.h"
#include "models/base/error.h"
#include "models/layout/relayout.h"

namespace npuscope {

MapCodes stored_codes(std::int32_t zero) { return {{zero - 128.0, zero + 127.0}, zero}; }

MapCodes plain_codes(bool is_signed) {
    return {range_of(is_signed ? ElementType::Int8 : ElementType::Uint8), 0};
}

void store_map(const GraphValue& value, const MemoryMapOf& map, std::span<std::uint8_t> memory) {
    const Layout plain = plain_layout(map.layout.shape, 1);
    NPU_CHECK(plain.bytes == value.numbers.size(), "the map has the tensor's elements");
    std::vector<std::uint8_t> bytes(plain.bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const double number = value.numbers[i];
        const NumberRange& range = map.codes.range;
        if (number != std::trunc(number) || number < range.low || number > range.high) {
            throw ConfigError(
                fmt::format("its input '{}' holds {}, which is not an integer from {} "
                            "to {}",
                            map.tensor, number, range.low, range.high),
                "give the numbers that the model was planned for");
        }
        bytes[i] = static_cast<std::uint8_t>(static_cast<std::int32_t>(number) - map.codes.zero);
    }
    std::ranges::fill(memory, std::uint8_t{0});
    relayout(plain, bytes, map.layout, memory);
}

GraphValue load_map(const TensorType& type, const MemoryMapOf& map,
                    std::span<const std::uint8_t> memory) {
    const Layout plain = plain_layout(map.layout.shape, 1);
    std::vector<std::uint8_t> bytes(plain.bytes);
    relayout(map.layout, memory, plain, bytes);
    GraphValue value{type, {}};
    for (const std::uint8_t byte : bytes) {
        const double number = static_cast<std::int8_t>(byte) + map.codes.zero;
        value.numbers.push_back(number < map.codes.range.low ? number + 256 : number);
    }
    return value;
}

}  // namespace npuscope
