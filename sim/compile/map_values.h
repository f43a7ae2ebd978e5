// SPDX-License-Identifier: Apache-2.0
// Feature maps between the host, which has numbers, and the NPU, which has bytes of int8 in a
// layout of its memory. The only place where one becomes the other.
#pragma once

#include <span>
#include <string>

#include "models/layout/layout.h"
#include "sim/model/graph.h"

namespace npuscope {

/// How numbers lie in bytes: each less a zero. A range has at most 256 numbers.
struct MapCodes {
    NumberRange range;
    std::int32_t zero = 0;
};
/// As int8 that an NPU's layers read and write.
MapCodes stored_codes(std::int32_t zero);
/// As they are, int8 or uint8.
MapCodes plain_codes(bool is_signed);

/// A map of the NPU's memory and the tensor that it holds.
struct MemoryMapOf {
    const std::string& tensor;
    const Layout& layout;
    MapCodes codes;
};

/// Writes a tensor's numbers; lanes that belong to no channel become 0. ConfigError without a place
/// where one is none of the range.
void store_map(const GraphValue& value, const MemoryMapOf& map, std::span<std::uint8_t> memory);

/// The numbers that lie in memory, as a tensor of this type.
GraphValue load_map(const TensorType& type, const MemoryMapOf& map,
                    std::span<const std::uint8_t> memory);

}  // namespace npuscope
