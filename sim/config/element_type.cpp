// SPDX-License-Identifier: Apache-2.0
#include "sim/config/element_type.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "sim/config/nearest_name.h"

namespace npuscope {
namespace {

unsigned bits_of(ElementType type) {
    return type == ElementType::Bool ? 1 : element_row(type).bytes * 8;
}

bool is_signed(ElementType type) { return element_row(type).kind == 'i'; }

double wrapped(double number, ElementType type) {
    const unsigned bits = bits_of(type);
    if (bits == 64) {
        return std::trunc(number);
    }
    const double span = std::ldexp(1.0, static_cast<int>(bits));
    double rest = std::fmod(std::trunc(number), span);
    if (!std::isfinite(rest)) {
        return 0;
    }
    if (rest < 0) {
        rest += span;
    }
    return is_signed(type) && rest >= span / 2 ? rest - span : rest;
}

/// fp16 in a file.
struct Half {
    std::uint16_t bits;
};

template <class T>
double number_of(T stored) {
    if constexpr (std::is_same_v<T, Half>) {
        return from_float16(stored.bits);
    } else {
        return static_cast<double>(stored);
    }
}

template <class T>
T stored_as(double number) {
    if constexpr (std::is_same_v<T, Half>) {
        return {to_float16(number)};
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
        return to_bits(number);
    } else if constexpr (sizeof(T) == 8 && std::is_integral_v<T>) {
        return static_cast<T>(to_integer(number));
    } else {
        return static_cast<T>(number);
    }
}

/// Calls visit(T()) with the type that holds an element in memory.
template <class Visit>
void with_stored_type(ElementType type, Visit visit) {
    switch (type) {
        case ElementType::Int8:
            return visit(std::int8_t{});
        case ElementType::Bool:
        case ElementType::Uint8:
            return visit(std::uint8_t{});
        case ElementType::Int16:
            return visit(std::int16_t{});
        case ElementType::Uint16:
            return visit(std::uint16_t{});
        case ElementType::Float16:
            return visit(Half{});
        case ElementType::Int32:
            return visit(std::int32_t{});
        case ElementType::Uint32:
            return visit(std::uint32_t{});
        case ElementType::Float32:
            return visit(float{});
        case ElementType::Int64:
            return visit(std::int64_t{});
        case ElementType::Uint64:
            return visit(std::uint64_t{});
        case ElementType::Float64:
            return visit(double{});
    }
}

}  // namespace

const ElementRow* find_onnx_element(std::int64_t number) {
    const auto* found = std::find_if(
        element_table.begin(), element_table.end(),
        [number](const ElementRow& row) { return row.onnx != 0 && row.onnx == number; });
    return found == element_table.end() ? nullptr : found;
}

const ElementRow& find_element(std::string_view name) {
    return find_named(element_table, name == "fp16" ? "float16" : name, "element type");
}

NumberRange range_of(ElementType type) {
    if (is_float(type)) {
        constexpr double infinite = std::numeric_limits<double>::infinity();
        return {-infinite, infinite};
    }
    const int bits = static_cast<int>(bits_of(type));
    if (is_signed(type)) {
        return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
    }
    return {0, std::ldexp(1.0, bits) - 1};
}

double stored_number(ElementType type, double number) {
    switch (type) {
        case ElementType::Float64:
            return number;
        case ElementType::Float32:
            return static_cast<double>(static_cast<float>(number));
        case ElementType::Float16:
            return from_float16(to_float16(number));
        case ElementType::Bool:
            return number != 0 ? 1 : 0;
        default:
            return wrapped(number, type);
    }
}

std::int64_t to_integer(double number) {
    constexpr double limit = 9223372036854775808.0;  // 2^63
    if (std::isnan(number)) {
        return 0;
    }
    if (number >= limit) {
        return std::numeric_limits<std::int64_t>::max();
    }
    if (number < -limit) {
        return std::numeric_limits<std::int64_t>::min();
    }
    return static_cast<std::int64_t>(number);
}

std::uint64_t to_bits(double number) {
    constexpr double beyond = 18446744073709551616.0;  // 2^64
    if (number >= beyond) {
        return std::numeric_limits<std::uint64_t>::max();
    }
    return number >= 0 ? static_cast<std::uint64_t>(number)
                       : static_cast<std::uint64_t>(to_integer(number));
}

std::vector<double> read_elements(ElementType type, std::span<const std::uint8_t> bytes) {
    std::vector<double> numbers(bytes.size() / element_row(type).bytes);
    with_stored_type(type, [&](auto stored) {
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            std::memcpy(&stored, bytes.data() + i * sizeof(stored), sizeof(stored));
            numbers[i] = number_of(stored);
        }
    });
    return numbers;
}

void append_elements(ElementType type, std::span<const double> numbers, std::string& bytes) {
    with_stored_type(type, [&](auto stored) {
        for (const double number : numbers) {
            stored = stored_as<decltype(stored)>(number);
            bytes.append(reinterpret_cast<const char*>(&stored), sizeof(stored));
        }
    });
}

double from_float16(std::uint16_t bits) {
    const int exponent = bits >> 10U & 0x1F;
    const int mantissa = bits & 0x3FF;
    double magnitude = 0;
    if (exponent == 0x1F) {
        magnitude = mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                                  : std::numeric_limits<double>::infinity();
    } else {
        magnitude =
            exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 0x400, exponent - 25);
    }
    return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

std::uint16_t to_float16(double number) {
    const std::uint32_t sign = std::signbit(number) ? 0x8000U : 0U;
    const double magnitude = std::abs(number);
    std::uint32_t bits = 0x7E00;  // a quiet NaN
    if (magnitude >= 65520) {     // half a step above the largest value
        bits = 0x7C00;
    } else if (!std::isnan(magnitude)) {
        int exponent = 0;
        std::frexp(magnitude, &exponent);
        const int step = magnitude == 0 ? -24 : std::max(exponent - 11, -24);
        // The mantissa's leading one adds 1 to the exponent's field, as does a mantissa that rounds
        // up to the next power of two.
        bits = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -step))) +
               (static_cast<std::uint32_t>(step + 24) << 10U);
    }
    return static_cast<std::uint16_t>(sign | bits);
}

}  // namespace npuscope
