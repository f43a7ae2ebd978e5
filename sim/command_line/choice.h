// SPDX-License-Identifier: Apache-2.0
// Options whose value is one of a few names, whatever their case, or a whole number in a range.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "models/base/describe.h"

namespace npuscope {

/// One of these names; CLI11 receives the value that belongs to it.
template <class Value>
CLI::Validator one_of(std::map<std::string, Value> names) {
    CLI::Validator choice;
    choice.operation([names = std::move(names)](std::string& text) -> std::string {
        std::vector<std::string> known;
        for (const auto& [name, value] : names) {
            known.push_back(name);
            if (CLI::detail::to_lower(name) != CLI::detail::to_lower(text)) {
                continue;
            }
            if constexpr (std::is_enum_v<Value>) {
                text = std::to_string(static_cast<std::underlying_type_t<Value>>(value));
            } else {
                text = value;
            }
            return {};
        }
        return fmt::format("'{}' is not one of {}", text, fmt::join(known, ", "));
    });
    return choice;
}

/// One of the names of an enumeration.
template <DescribedEnum E>
CLI::Validator one_of() {
    std::map<std::string, E> names;
    for (const auto& [value, name] : EnumNames<E>::names) {
        names.emplace(name, value);
    }
    return one_of(std::move(names));
}

/// A whole number in this range, in decimal digits.
inline CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
    CLI::Validator range(fmt::format("{} to {}", least, most));
    range.operation([least, most](std::string& text) -> std::string {
        std::uint64_t value = 0;
        const char* const end = text.data() + text.size();
        const auto result = std::from_chars(text.data(), end, value);
        if (result.ec != std::errc() || result.ptr != end || value < least || value > most) {
            return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
        }
        text = std::to_string(value);  // the parser takes 010 for an octal number
        return {};
    });
    return range;
}

}  // namespace npuscope
