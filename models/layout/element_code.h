// SPDX-License-Identifier: Apache-2.0
// One element between its bytes in a surface and its value, for every code of layout.h. Plain and
// slow: what the engine is checked against.
#pragma once

#include <cstdint>
#include <span>

#include "models/layout/layout.h"

namespace npuscope {

/// The value's bits at `index`, zero-extended. `memory` covers layout.used bytes.
std::uint64_t read_element(const Layout& layout, std::span<const std::uint8_t> memory,
                           std::span<const std::uint64_t> index);
/// Writes the element's bytes (or bits) alone.
void write_element(const Layout& layout, std::span<std::uint8_t> memory,
                   std::span<const std::uint64_t> index, std::uint64_t bits);

/// What is left of a value after it was stored with this code: bit 0 is lost in all 16-bit codes.
std::uint64_t stored_bits(ElementCode code, std::uint64_t bits);

}  // namespace npuscope
