// SPDX-License-Identifier: Apache-2.0
#include "sim/config/printable.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>

namespace npuscope {
namespace {

bool is_control(std::uint32_t point) {
    return point < 0x20 || (point >= 0x7f && point <= 0x9f) ||
           (point >= 0x200e && point <= 0x200f) ||  // direction marks
           (point >= 0x2028 && point <= 0x202e) ||  // line separators, direction overrides
           (point >= 0x2066 && point <= 0x2069);
}

std::string escaped(std::string_view text, std::string_view kept) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        const std::size_t bytes = shown_bytes(text);
        if (bytes > 0 || kept.find(text.front()) != std::string_view::npos) {
            shown += text.substr(0, bytes > 0 ? bytes : 1);
            text.remove_prefix(bytes > 0 ? bytes : 1);
            continue;
        }
        fmt::format_to(std::back_inserter(shown), "\\x{:02x}",
                       static_cast<unsigned char>(text.front()));
        text.remove_prefix(1);
    }
    return shown;
}

}  // namespace

std::size_t utf8_bytes(std::string_view text, std::uint32_t& point) {
    if (text.empty()) {
        return 0;
    }
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    point = first;
    if (first < 0x80) {
        return 1;
    }
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < size) {
        return 0;
    }
    point = first & (0x7fU >> size);
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xc0U) != 0x80) {
            return 0;
        }
        point = point << 6U | (byte(i) & 0x3fU);
    }
    const bool longer_than_needed = size > 2 && point < (size == 3 ? 0x800U : 0x10000U);
    const bool no_character = point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff);
    return longer_than_needed || no_character ? 0 : size;
}

std::size_t shown_bytes(std::string_view text) {
    std::uint32_t point = 0;
    const std::size_t size = utf8_bytes(text, point);
    return is_control(point) ? 0 : size;
}

std::string printable(std::string_view text) { return escaped(text, "\n\t"); }

std::string printable_line(std::string_view text) { return escaped(text, {}); }

}  // namespace npuscope
