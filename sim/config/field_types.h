// SPDX-License-Identifier: Apache-2.0
// The kinds of fields that a described struct may have, for visitors that branch on them, and
// numbers as people write them: `512`, `0x80000000`, `128 KiB`, `1.2 GHz`, `50 cycles`. Strict: no
// octal-looking `010`, no sign, no `_`, no ambiguous `KB`.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "models/base/describe.h"
#include "models/base/quantity.h"
#include "models/memory/memory_config.h"

namespace npuscope {

enum class UnitKind { Plain, ByteCount, Frequency, Bandwidth, CycleCount, ByteAddress };

/// Why a string is not a number of its kind, and how to write it.
struct QuantityFault {
    std::string sentence;
    std::string remedy;
};

/// The amount in base units (bytes, hertz, bytes a second, cycles).
std::variant<std::uint64_t, QuantityFault> parse_quantity(std::string_view text, UnitKind kind);

/// The shortest exact spelling: `128 KiB`, `1 GHz`, `50 cycles`, `0x80000000`, `512`.
std::string format_quantity(std::uint64_t value, UnitKind kind);

/// `bytes`, `hertz`, `bytes/s`, `cycles`, `address`, `integer`.
std::string_view unit_kind_name(UnitKind kind);

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

/// A struct of one unsigned `value`: a Quantity or an Address.
template <class T>
inline constexpr bool is_quantity = false;
template <class Kind>
inline constexpr bool is_quantity<Quantity<Kind>> = true;
template <>
inline constexpr bool is_quantity<Address> = true;

template <class T>
inline constexpr UnitKind unit_kind_of = UnitKind::Plain;
template <>
inline constexpr UnitKind unit_kind_of<Bytes> = UnitKind::ByteCount;
template <>
inline constexpr UnitKind unit_kind_of<Cycles> = UnitKind::CycleCount;
template <>
inline constexpr UnitKind unit_kind_of<Hertz> = UnitKind::Frequency;
template <>
inline constexpr UnitKind unit_kind_of<BytesPerSecond> = UnitKind::Bandwidth;
template <>
inline constexpr UnitKind unit_kind_of<Address> = UnitKind::ByteAddress;

template <class T>
concept PlainInteger = std::unsigned_integral<T> && !std::same_as<T, bool>;

/// Never true; names a type in a failed static_assert.
template <class T>
inline constexpr bool is_no_field_type = false;

/// `cdma` and `burst_bytes` make `cdma.burst_bytes`.
inline std::string join_path(std::string_view path, std::string_view name) {
    std::string joined(path);
    if (!joined.empty()) {
        joined += '.';
    }
    return joined += name;
}

/// `regions` and 2 make `regions[2]`.
inline std::string index_path(std::string_view path, std::size_t index) {
    return std::string(path) + '[' + std::to_string(index) + ']';
}

template <DescribedEnum E>
std::vector<std::string> enum_names() {
    std::vector<std::string> names;
    names.reserve(EnumNames<E>::names.size());
    for (const auto& [value, name] : EnumNames<E>::names) {
        names.emplace_back(name);
    }
    return names;
}

}  // namespace npuscope
