// SPDX-License-Identifier: Apache-2.0
#include "sim/program/plan_comments.h"

#include <charconv>
#include <string>

namespace npuscope {
namespace {

/// Removes a word that must begin the text.
bool take(std::string_view& text, std::string_view word) {
    const bool there = text.starts_with(word);
    text.remove_prefix(there ? word.size() : 0);
    return there;
}

/// Removes a word that may begin the text. Always true.
bool skip(std::string_view& text, std::string_view word) {
    take(text, word);
    return true;
}

template <class Number>
bool take_number(std::string_view& text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return error == std::errc();
}

std::string_view without_end(std::string_view line) {
    const std::size_t last = line.find_last_not_of(" \t\r");
    return line.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

}  // namespace

std::optional<BeginLayer> read_layer_comment(std::string_view comment) {
    std::string_view text = without_end(comment);
    const std::size_t colon = text.rfind(": ");
    if (!take(text, "// layer ") || colon == std::string_view::npos || colon < 10) {
        return std::nullopt;
    }
    BeginLayer layer;
    layer.name = text.substr(0, colon - 9);
    text.remove_prefix(layer.name.size() + 2);
    const std::size_t comma = text.find(", ");
    if (comma == std::string_view::npos) {
        return std::nullopt;
    }
    layer.kind = text.substr(0, comma);
    text.remove_prefix(comma + 2);
    const bool good = take_number(text, layer.operations) && take(text, " operation") &&
                      skip(text, "s") && take(text, ", ") && take_number(text, layer.macs) &&
                      text == " MACs";
    return good ? std::optional(layer) : std::nullopt;
}

std::optional<NamedSurface> read_surface_comment(std::string_view comment) {
    std::string_view text = without_end(comment);
    NamedSurface surface;
    surface.is_result = take(text, "// result ");
    const std::size_t equals = text.find(" = 0x");
    if ((!surface.is_result && !take(text, "// surface ")) || equals == std::string_view::npos) {
        return std::nullopt;
    }
    const std::size_t end = text.find(" = 0x");
    surface.name = text.substr(0, end);
    text.remove_prefix(end + 3);
    const std::size_t after = text.rfind(" after ");
    surface.spec = text.substr(0, after);
    if (after != std::string_view::npos) {
        surface.after = text.substr(after + 7);
    }
    return surface;
}

}  // namespace npuscope
