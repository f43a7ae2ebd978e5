// SPDX-License-Identifier: Apache-2.0
// The types that a tensor's elements may have, in files, in graphs and on the command line: one row
// each. What a hardware unit computes with is a Precision (models/layout/precision.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/describe.h"

namespace npuscope {

enum class ElementType : std::uint8_t {
    Int8,
    Uint8,
    Int16,
    Uint16,
    Float16,
    Int32,
    Uint32,
    Float32,
    Int64,
    Uint64,
    Float64,
    Bool
};

struct ElementRow {
    ElementType type;
    std::string_view name;   ///< as on the command line and in messages
    std::string_view descr;  ///< NumPy's name
    std::uint32_t bytes;
    char kind;  ///< 'i' signed integer, 'u' unsigned integer, 'f' float, 'b' boolean
    int onnx;   ///< ONNX's code of the type; 0: graphs do not hold it
};

/// In the order of the enumeration. source: numpy.lib.format; onnx.proto, TensorProto.DataType
inline constexpr std::array element_table{
    ElementRow{ElementType::Int8, "int8", "|i1", 1, 'i', 3},
    ElementRow{ElementType::Uint8, "uint8", "|u1", 1, 'u', 2},
    ElementRow{ElementType::Int16, "int16", "<i2", 2, 'i', 5},
    ElementRow{ElementType::Uint16, "uint16", "<u2", 2, 'u', 4},
    ElementRow{ElementType::Float16, "float16", "<f2", 2, 'f', 10},
    ElementRow{ElementType::Int32, "int32", "<i4", 4, 'i', 6},
    ElementRow{ElementType::Uint32, "uint32", "<u4", 4, 'u', 12},
    ElementRow{ElementType::Float32, "float32", "<f4", 4, 'f', 1},
    ElementRow{ElementType::Int64, "int64", "<i8", 8, 'i', 7},
    ElementRow{ElementType::Uint64, "uint64", "<u8", 8, 'u', 13},
    ElementRow{ElementType::Float64, "float64", "<f8", 8, 'f', 11},
    ElementRow{ElementType::Bool, "bool", "|b1", 1, 'b', 9}};

constexpr const ElementRow& element_row(ElementType type) {
    return element_table[static_cast<std::size_t>(type)];
}
/// Null for a code that graphs do not know.
const ElementRow* find_onnx_element(std::int64_t number);
/// ConfigError names the nearest known type.
const ElementRow& find_element(std::string_view name);

template <>
struct EnumNames<ElementType> {
    static constexpr auto names = [] {
        std::array<std::pair<ElementType, std::string_view>, element_table.size() + 1> pairs{};
        pairs.back() = {ElementType::Float16, "fp16"};  // as NVDLA's documents call it
        for (std::size_t i = 0; i < element_table.size(); ++i) {
            pairs[i] = {element_table[i].type, element_table[i].name};
        }
        return pairs;
    }();
};

constexpr bool is_float(ElementType type) { return element_row(type).kind == 'f'; }

/// Smallest and largest value of a tensor or of a type.
struct NumberRange {
    double low;
    double high;
    bool operator==(const NumberRange&) const = default;
};
/// The range of an integer type; infinite for floats.
NumberRange range_of(ElementType type);

/// The number as the type stores it: floats rounded to nearest even, integers wrapped.
double stored_number(ElementType type, double number);
/// A double as an integer, saturated to 64 bits; NaN is 0.
std::int64_t to_integer(double number);
/// The same in two's complement, up to 2^64 - 1.
std::uint64_t to_bits(double number);

/// Elements as files hold them: low byte first. `bytes` are whole elements.
std::vector<double> read_elements(ElementType type, std::span<const std::uint8_t> bytes);
/// The values must fit the type; 64-bit integers are saturated.
void append_elements(ElementType type, std::span<const double> numbers, std::string& bytes);

/// fp16 as in IEEE 754: its bits, and the nearest one to a number, infinite beyond the largest.
double from_float16(std::uint16_t bits);
std::uint16_t to_float16(double number);

}  // namespace npuscope
