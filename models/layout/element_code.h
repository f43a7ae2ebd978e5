// SPDX-License-Identifier: Apache-2.0
// One element between its bytes in a surface and its value, for every code of layout.h. Simple and
// slow: the reference for the engine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "models/layout/layout.h"

namespace npuscope {

/// The value's bits at `index`, zero-extended. `memory` covers layout.used bytes.
std::uint64_t read_element(const Layout& layout, std::span<const std::uint8_t> memory,
                           std::span<const std::uint64_t> index);
/// Writes only the element's bytes (or bits).
void write_element(const Layout& layout, std::span<std::uint8_t> memory,
                   std::span<const std::uint64_t> index, std::uint64_t bits);

/// The value as this code stores it: bit 0 is lost in all 16-bit codes.
std::uint64_t stored_bits(ElementCode code, std::uint64_t bits);

// The 16-bit codes of layout.h for whole runs of values.
//
//     high/low planes: all low bytes (bits 7..1 in bits 6..0), then all high bytes (bits 15..8)
//
// source: Kneron page "Convert ONNX & NPU Data", high/low formats

/// A high/low layout with bytes as elements: axis '#' (0 low, 1 high) in front of the others.
/// Nothing where a run of 16 scalars is not one entry, as may happen with odd strides.
std::optional<Layout> byte_layout(const Layout& high_low);

void split_high_low(const std::uint8_t* values, std::uint64_t count, std::uint8_t* planes);
void join_high_low(const std::uint8_t* planes, std::uint64_t count, std::uint8_t* values);

/// Whole pairs of entries: 16 plain values become 16 low and 16 high bytes in place, and back.
void split_entries(std::uint8_t* pairs, std::uint64_t bytes);
void join_entries(const std::uint8_t* pairs, std::uint64_t bytes, std::uint8_t* values);

/// In place; plain and high/low values are unchanged.
void decode_values(ElementCode code, std::uint8_t* values, std::uint64_t count);
void encode_values(ElementCode code, std::uint8_t* values, std::uint64_t count);

}  // namespace npuscope
