// SPDX-License-Identifier: Apache-2.0
// Options whose value is one of a few names, whatever their case.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
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

}  // namespace npuscope
