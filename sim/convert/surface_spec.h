// SPDX-License-Identifier: Apache-2.0
// Text specification of a surface in memory:
//
//     ADDRESS:SHAPE:TYPE:LAYOUT       0x90000000:1x16x10x10:int8:feature:atom=8
//
// SHAPE is NxCxHxW, KxCxRxS for weights; LAYOUT is a catalogue name with its parameters, or an
// expression.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/base/quantity.h"
#include "models/layout/layout.h"
#include "sim/config/element_type.h"

namespace npuscope {

struct SurfaceSpec {
    Address base;
    const ElementRow* type = nullptr;
    Layout layout;

    /// Its elements in row-major order; `memory` starts at `base`.
    std::vector<std::uint8_t> elements(std::span<const std::uint8_t> memory) const;
};

/// Whether a text begins like one: with an address.
bool is_surface_spec(const std::string& text);
/// ConfigError that quotes the text and names the wrong part.
SurfaceSpec parse_surface_spec(const std::string& text);

/// The elements that a file holds for the surface, in row-major order: an array (.npy) of its type
/// and shape, or the surface's bytes as in memory. ConfigError with the numbers.
std::vector<std::uint8_t> read_surface_file(const SurfaceSpec& surface, const std::string& path);
/// Elements in row-major order as an .npy file.
std::string surface_npy(const SurfaceSpec& surface, std::span<const std::uint8_t> elements);

}  // namespace npuscope
