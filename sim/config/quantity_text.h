// SPDX-License-Identifier: Apache-2.0
// Numbers as people write them: `512`, `0x80000000`, `128 KiB`,
// `1.2 GHz`, `50 cycles`. Strict: no octal-looking `010`, no sign, no `_`, no ambiguous `KB`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace npuscope {

enum class UnitKind { Plain, ByteCount, Frequency, CycleCount, ByteAddress };

/// Why a text is not a number of its kind, and how to write it.
struct QuantityFault {
    std::string sentence;
    std::string remedy;
};

/// The amount in base units (bytes, hertz, cycles).
std::variant<std::uint64_t, QuantityFault> parse_quantity(std::string_view text, UnitKind kind);

/// The shortest exact spelling: `128 KiB`, `1 GHz`, `50 cycles`, `0x80000000`, `512`.
std::string format_quantity(std::uint64_t value, UnitKind kind);

/// `bytes`, `hertz`, `cycles`, `address`, `integer`.
std::string_view unit_kind_name(UnitKind kind);

}  // namespace npuscope
