// SPDX-License-Identifier: Apache-2.0
// Names and messages may hold whatever a file holds. What goes to a terminal, or into a text that is
// shown on one, must not control it: control characters, what overrides the direction of writing, and
// bytes that are not UTF-8 appear as \xhh.
#pragma once

#include <string>
#include <string_view>

namespace npuscope {

/// Of several lines: ends of lines and tabs stay.
std::string printable(std::string_view text);
/// Of a name or a sentence: ends of lines and tabs appear as \x0a and \x09.
std::string printable_line(std::string_view text);
/// Bytes of the UTF-8 character that `text` starts with, 1 to 4, where it may be shown as it is; else
/// 0.
std::size_t shown_bytes(std::string_view text);

}  // namespace npuscope
