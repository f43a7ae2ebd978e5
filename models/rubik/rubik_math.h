// SPDX-License-Identifier: Apache-2.0
// What RUBIK does to lines of bytes. No arithmetic: elements change places.
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/quantity.h"

namespace npuscope {

using ByteLine = std::vector<std::uint8_t>;

/// Sizes of a line's elements.
struct LineElements {
    Bytes atom{32};
    Bytes element{1};

    std::size_t lanes() const { return atom.value / element.value; }
};

/// Lines of one length, atom by atom in turns: a0 b0 c0 a1 b1 c1 ...
ByteLine interleave_atoms(const std::vector<ByteLine>& lines, Bytes atom);

/// The first `planes` lanes of every atom of a line, each as its own line of `length` bytes; 0
/// after the last element.
std::vector<ByteLine> split_line(const ByteLine& line, const LineElements& elements,
                                 std::size_t planes, Bytes length);

/// `width` atoms of one element of each plane; 0 in the lanes that no plane fills.
ByteLine merge_lines(const std::vector<ByteLine>& planes, const LineElements& elements,
                     std::size_t width);

}  // namespace npuscope
