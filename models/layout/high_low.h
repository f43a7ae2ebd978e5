// SPDX-License-Identifier: Apache-2.0
// The 16-bit codes of layout.h for whole runs of values.
//
//     high/low planes: all low bytes (bits 7..1 in bits 6..0), then all high bytes (bits 15..8)
//
// source: Kneron page "Convert ONNX & NPU Data", high/low formats
#pragma once

#include <cstdint>
#include <optional>

#include "models/layout/layout.h"

namespace npuscope {

/// A high/low layout with its bytes as elements: axis '#' (0 low, 1 high) in front of the others.
/// Nothing where a run of 16 scalars is not one entry, as odd strides may make it.
std::optional<Layout> byte_layout(const Layout& high_low);

void split_high_low(const std::uint8_t* values, std::uint64_t count, std::uint8_t* planes);
void join_high_low(const std::uint8_t* planes, std::uint64_t count, std::uint8_t* values);

/// Whole pairs of entries: 16 plain values become 16 low and 16 high bytes in place, and back.
void split_entries(std::uint8_t* pairs, std::uint64_t bytes);
void join_entries(const std::uint8_t* pairs, std::uint64_t bytes, std::uint8_t* values);

/// In place; plain and high/low values stay as they are.
void decode_values(ElementCode code, std::uint8_t* values, std::uint64_t count);
void encode_values(ElementCode code, std::uint8_t* values, std::uint64_t count);

}  // namespace npuscope
