// SPDX-License-Identifier: Apache-2.0
// One list of fields per struct, used by many: the YAML reader and writer, `--set`, CSV columns,
// JSON keys and `npuscope list fields`. A described struct has
//
//     template <class Visitor, class Self>
//     static void describe(Visitor& visit, Self& self) {
//         visit.field("banks", self.banks, "banks of the buffer");
//     }
//
// where Self is the struct or the const struct. A field may be a bool, an unsigned integer, a
// Quantity, an Address, a std::string, a described enum, another described struct, a std::optional
// or a std::vector of these. `required` instead of `field` marks one that the user must give. Names
// are the same everywhere: member = YAML key = column = JSON key.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace npuscope {

namespace detail {
struct AnyVisitor {
    template <class T>
    void field(std::string_view /*name*/, T& /*value*/, std::string_view /*sentence*/) {}
    template <class T>
    void required(std::string_view /*name*/, T& /*value*/, std::string_view /*sentence*/) {}
};
}  // namespace detail

/// A struct with a `describe` list.
template <class T>
concept Described = requires(detail::AnyVisitor& visit, T& value) {
    std::remove_const_t<T>::describe(visit, value);
};

/// Specialise for an enum: `static constexpr std::array names{std::pair{E::A, "a"}, ...};`
template <class E>
struct EnumNames;

template <class E>
concept DescribedEnum = std::is_enum_v<E> && requires {
    EnumNames<E>::names;
};

template <DescribedEnum E>
constexpr std::string_view enum_name(E value) {
    for (const auto& [candidate, name] : EnumNames<E>::names) {
        if (candidate == value) {
            return name;
        }
    }
    return "unknown";
}

template <DescribedEnum E>
constexpr std::optional<E> enum_from_name(std::string_view text) {
    for (const auto& [candidate, name] : EnumNames<E>::names) {
        if (name == text) {
            return candidate;
        }
    }
    return std::nullopt;
}

}  // namespace npuscope
