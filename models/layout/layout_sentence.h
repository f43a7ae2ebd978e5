// SPDX-License-Identifier: Apache-2.0
// A layout as a sentence: digits of the element's index, from the slowest to the fastest.
//
//     C/32 H W C%32      the feature cube of 32 channels per atom
//     digit = axis ['/' divide] ['%' modulo] ['~'] ['-'] [':' pitch] ['^' align]
//
//     C/4%2  is (index of C) / 4 % 2. '~': blocks of the quotient are as short as the axis ends, no
//     lane is padded. '-': counted backwards. Pitch and alignment count bytes; without a pitch the
//     digit lies right after all faster ones, its pitch rounded up to the alignment.
//
// An axis is one capital letter: N batch, C channel, D depth, H row, W column; K kernel, R and S
// rows and columns of a kernel. What a sentence means for a given shape is bound in layout.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope {

struct LayoutDigit {
    char axis = 'C';
    std::uint64_t divide = 1;
    std::uint64_t modulo = 0;  ///< 0: as far as the axis goes
    bool ragged = false;       ///< the last block of the axis is short, not padded
    bool reversed = false;
    std::uint64_t pitch = 0;  ///< bytes from one value to the next; 0: packed
    std::uint64_t align = 1;  ///< bytes that a packed pitch is rounded up to

    bool operator==(const LayoutDigit&) const = default;
};

using LayoutSentence = std::vector<LayoutDigit>;

/// ConfigError that quotes the text and the place in it.
LayoutSentence parse_sentence(std::string_view text);
std::string to_string(const LayoutDigit& digit);
std::string to_string(const LayoutSentence& sentence);

/// Every axis must be cut without holes or overlaps: C/32 goes with C%32, W/8 with W/2%4 and W%2.
/// ConfigError that names the digit.
void require_complete(const LayoutSentence& sentence);

}  // namespace npuscope
