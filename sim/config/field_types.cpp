// SPDX-License-Identifier: Apache-2.0
#include "sim/config/field_types.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

namespace npuscope {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t most_decimals = 9;

struct Unit {
    std::string_view name;
    std::uint64_t scale;
};

// Largest first: the first that divides a value is used to print it.
constexpr std::array byte_units{Unit{"GiB", 1ULL << 30}, Unit{"MiB", 1ULL << 20},
                                Unit{"KiB", 1ULL << 10}, Unit{"B", 1}};
constexpr std::array hertz_units{Unit{"GHz", 1'000'000'000}, Unit{"MHz", 1'000'000},
                                 Unit{"kHz", 1'000}, Unit{"Hz", 1}};
constexpr std::array bandwidth_units{Unit{"GB/s", 1'000'000'000}, Unit{"MB/s", 1'000'000},
                                     Unit{"kB/s", 1'000}, Unit{"B/s", 1}};
constexpr std::array cycle_units{Unit{"cycles", 1}, Unit{"cycle", 1}};

std::span<const Unit> units_of(UnitKind kind) {
    switch (kind) {
        case UnitKind::ByteCount:
            return byte_units;
        case UnitKind::Frequency:
            return hertz_units;
        case UnitKind::Bandwidth:
            return bandwidth_units;
        case UnitKind::CycleCount:
            return cycle_units;
        case UnitKind::Plain:
        case UnitKind::ByteAddress:
            break;
    }
    return {};
}

std::string remedy_of(UnitKind kind) {
    switch (kind) {
        case UnitKind::ByteCount:
            return "write bytes as 131072, 128 KiB, 2 MiB or 4 GiB";
        case UnitKind::Frequency:
            return "write a frequency as 1000000000, 800 MHz or 1.2 GHz";
        case UnitKind::Bandwidth:
            return "write a bandwidth as 20 GB/s, 12.8 GB/s or 500 MB/s";
        case UnitKind::CycleCount:
            return "write cycles as 50 or 50 cycles";
        case UnitKind::ByteAddress:
            return "write an address as 0x80000000";
        case UnitKind::Plain:
            break;
    }
    return "write a plain decimal or 0x hexadecimal integer";
}

QuantityFault fault(std::string_view text, std::string_view what, UnitKind kind) {
    constexpr std::size_t shown = 40;
    const std::string_view dots = text.size() > shown ? "..." : "";
    return {fmt::format("'{}{}' {}", text.substr(0, shown), dots, what), remedy_of(kind)};
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_digit(char c) {
    if (is_digit(c)) {
        return c - '0';
    }
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Appends a digit; false if the value would not fit into 64 bits.
bool append_digit(std::uint64_t& value, std::uint64_t digit, std::uint64_t radix) {
    if (value > (largest - digit) / radix) {
        return false;
    }
    value = value * radix + digit;
    return true;
}

std::variant<std::uint64_t, QuantityFault> parse_hex(std::string_view text, UnitKind kind) {
    std::uint64_t value = 0;
    for (const char c : text.substr(2)) {
        const int digit = hex_digit(c);
        if (digit < 0) {
            return fault(text, "is not a hexadecimal number", kind);
        }
        if (!append_digit(value, static_cast<std::uint64_t>(digit), 16)) {
            return fault(text, "does not fit into 64 bits", kind);
        }
    }
    return text.size() == 2 ? fault(text, "is not a hexadecimal number", kind)
                            : std::variant<std::uint64_t, QuantityFault>(value);
}

std::optional<std::uint64_t> find_scale(std::string_view name, UnitKind kind) {
    for (const Unit& unit : units_of(kind)) {
        if (unit.name == name) {
            return unit.scale;
        }
    }
    return std::nullopt;
}

/// `whole.fraction unit`, cut into its parts.
struct Parts {
    std::string_view whole;
    std::string_view fraction;
    std::string_view unit;
};

std::string_view take_digits(std::string_view& text) {
    std::size_t n = 0;
    while (n < text.size() && is_digit(text[n])) {
        ++n;
    }
    const std::string_view digits = text.substr(0, n);
    text.remove_prefix(n);
    return digits;
}

std::optional<Parts> cut(std::string_view text) {
    Parts parts;
    parts.whole = take_digits(text);
    if (!text.empty() && text.front() == '.') {
        text.remove_prefix(1);
        parts.fraction = take_digits(text);
        if (parts.fraction.empty()) {
            return std::nullopt;
        }
    }
    while (!text.empty() && text.front() == ' ') {
        text.remove_prefix(1);
    }
    parts.unit = text;
    return parts.whole.empty() ? std::nullopt : std::optional(parts);
}

/// Whether a fraction of more decimals than are read could still be a whole number in the unit.
bool has_binary_scale(UnitKind kind) { return kind == UnitKind::ByteCount; }

std::string not_whole(UnitKind kind) {
    return kind == UnitKind::Plain
               ? std::string("is not a whole number")
               : fmt::format("is not a whole number of {}", unit_kind_name(kind));
}

/// whole.fraction times scale; or why that is not a 64-bit integer.
std::variant<std::uint64_t, std::string> scaled(const Parts& parts, std::uint64_t scale,
                                                UnitKind kind) {
    const std::string beyond = "does not fit into 64 bits";
    std::uint64_t value = 0;
    std::uint64_t divisor = 1;
    for (const char c : parts.whole) {
        if (!append_digit(value, static_cast<std::uint64_t>(c - '0'), 10)) {
            return beyond;
        }
    }
    for (const char c : parts.fraction) {
        divisor *= 10;
        if (!append_digit(value, static_cast<std::uint64_t>(c - '0'), 10)) {
            return beyond;
        }
    }
    const std::uint64_t shared = std::gcd(scale, divisor);
    scale /= shared;
    divisor /= shared;
    if (value % divisor != 0) {
        return not_whole(kind);
    }
    value /= divisor;
    return value > largest / scale ? std::variant<std::uint64_t, std::string>(beyond)
                                   : value * scale;
}

}  // namespace

std::variant<std::uint64_t, QuantityFault> parse_quantity(std::string_view text, UnitKind kind) {
    if (text.starts_with("0x") || text.starts_with("0X")) {
        return parse_hex(text, kind);
    }
    if (text.starts_with('-')) {
        return fault(text, "is negative", kind);
    }
    std::optional<Parts> parts = cut(text);
    if (!parts) {
        return fault(text, "is not a number", kind);
    }
    const std::size_t last = parts->fraction.find_last_not_of('0');
    parts->fraction = parts->fraction.substr(0, last == std::string_view::npos ? 0 : last + 1);
    if (parts->whole.size() > 1 && parts->whole.front() == '0') {
        return fault(text, "looks octal", kind);
    }
    const std::optional<std::uint64_t> scale =
        parts->unit.empty() ? std::optional<std::uint64_t>(1) : find_scale(parts->unit, kind);
    if (!scale) {
        return fault(text, fmt::format("is not a number of {}", unit_kind_name(kind)), kind);
    }
    if (parts->fraction.size() > most_decimals) {
        return fault(text,
                     has_binary_scale(kind)
                         ? fmt::format("has more than {} decimals", most_decimals)
                         : not_whole(kind),
                     kind);
    }
    const auto value = scaled(*parts, *scale, kind);
    if (const auto* why = std::get_if<std::string>(&value)) {
        return fault(text, *why, kind);
    }
    return std::get<std::uint64_t>(value);
}

std::string format_quantity(std::uint64_t value, UnitKind kind) {
    if (kind == UnitKind::ByteAddress) {
        return fmt::format("0x{:x}", value);
    }
    for (const Unit& unit : units_of(kind)) {
        if (value % unit.scale == 0 && (value != 0 || unit.scale == 1)) {
            return fmt::format("{} {}", value / unit.scale, unit.name);
        }
    }
    return fmt::format("{}", value);
}

std::string_view unit_kind_name(UnitKind kind) {
    switch (kind) {
        case UnitKind::ByteCount:
            return "bytes";
        case UnitKind::Frequency:
            return "hertz";
        case UnitKind::Bandwidth:
            return "bytes/s";
        case UnitKind::CycleCount:
            return "cycles";
        case UnitKind::ByteAddress:
            return "address";
        case UnitKind::Plain:
            break;
    }
    return "integer";
}

}  // namespace npuscope
