// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/config/printable.h"

namespace npuscope {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_bare_character(char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '/';
}

bool is_null_of_yaml(std::string_view text) {
    return text == "null" || text == "Null" || text == "NULL";
}

bool is_word_of_yaml(std::string_view text) {
    constexpr std::array words{"true", "false", "yes", "no", "on", "off"};
    return is_null_of_yaml(text) || std::ranges::find(words, text) != words.end();
}

/// The first character of `text`, in double quotes.
std::string escaped(std::string_view text) {
    switch (text.front()) {
        case '"':
            return "\\\"";
        case '\\':
            return "\\\\";
        case '\n':
            return "\\n";
        default:
            break;
    }
    const std::size_t bytes = shown_bytes(text);
    return bytes > 0 ? std::string(text.substr(0, bytes))
                     : fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
}

}  // namespace

std::string yaml_quoted(const std::string& text) {
    if (!text.empty() && is_letter(text.front()) && !is_word_of_yaml(text) &&
        std::all_of(text.begin(), text.end(), is_bare_character)) {
        return text;
    }
    std::string quoted = "\"";
    for (std::string_view rest = text; !rest.empty();) {
        quoted += escaped(rest);
        rest.remove_prefix(std::max<std::size_t>(shown_bytes(rest), 1));
    }
    return quoted + '"';
}

std::string flow_yaml(const ConfigNode& node) {
    if (node.kind == ConfigNode::Kind::Scalar) {
        // Numbers and booleans stay as they are: a tree does not know which field reads them.
        const bool bare = !node.text.empty() && node.text.front() != '-' &&
                          std::ranges::all_of(node.text, is_bare_character);
        return bare && !is_null_of_yaml(node.text) ? node.text : yaml_quoted(node.text);
    }
    if (node.kind == ConfigNode::Kind::Null) {
        return "null";
    }
    const bool map = node.kind == ConfigNode::Kind::Map;
    std::string text;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
        text += text.empty() ? "" : ", ";
        text += map ? yaml_quoted(node.keys[i].name) + ": " : "";
        text += flow_yaml(node.items[i]);
    }
    return map ? '{' + text + '}' : '[' + text + ']';
}

}  // namespace npuscope
