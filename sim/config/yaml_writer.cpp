// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace npuscope {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_bare_character(char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '/';
}

bool is_word_of_yaml(const std::string& text) {
    constexpr std::array words{"true", "false", "null", "Null", "NULL", "yes", "no", "on", "off"};
    return std::find(words.begin(), words.end(), text) != words.end();
}

std::string escaped(char c) {
    switch (c) {
        case '"':
            return "\\\"";
        case '\\':
            return "\\\\";
        case '\n':
            return "\\n";
        default:
            break;
    }
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
}

}  // namespace

std::string yaml_quoted(const std::string& text) {
    if (!text.empty() && is_letter(text.front()) && !is_word_of_yaml(text) &&
        std::all_of(text.begin(), text.end(), is_bare_character)) {
        return text;
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += escaped(c);
    }
    return quoted + '"';
}

}  // namespace npuscope
