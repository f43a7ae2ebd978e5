// SPDX-License-Identifier: Apache-2.0
// Layouts for the eye: how an element's byte comes about, and the first entries as the vendors'
// tables draw them, byte 0 at the right.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/layout/layout.h"

namespace npuscope {

/// One line for each digit with its value and pitch, then the byte. `index` lies in the shape.
std::string explain_element(const Layout& layout, std::span<const std::uint64_t> index);

struct PictureSize {
    std::uint64_t entries = 3;
    std::uint64_t entry_bytes = 16;
};

/// `P3CH1` is channel 1 of pixel 3 (its row times the width, plus its column); weights and other
/// tensors name axes and indices. `-` belongs to no element; L and H are low and high bytes.
std::string draw_entries(const Layout& layout, const PictureSize& size);

/// Labels of the first entry from byte 0 on, in one line.
std::string first_entry(const Layout& layout, std::uint64_t entry_bytes);

}  // namespace npuscope
