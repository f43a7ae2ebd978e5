// SPDX-License-Identifier: Apache-2.0
// Names and messages may contain anything that a file does. What goes to a terminal, or into text
// that is shown on one, must not control it: control characters, overrides of the writing
// direction, and bytes that are not UTF-8 appear as \xhh.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace npuscope {

/// For several lines: line ends and tabs stay.
std::string printable(std::string_view text);
/// For a name or a sentence: line ends and tabs appear as \x0a and \x09.
std::string printable_line(std::string_view text);
/// Bytes of the UTF-8 character that `text` starts with, 1 to 4, and its code point; 0 if there is
/// none.
std::size_t utf8_bytes(std::string_view text, std::uint32_t& point);
/// Bytes of the UTF-8 character that `text` starts with, 1 to 4, if it may be shown as is; else 0.
std::size_t shown_bytes(std::string_view text);

}  // namespace npuscope
