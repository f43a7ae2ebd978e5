// SPDX-License-Identifier: Apache-2.0
// Operators on the bits of integers. Numbers are held as doubles, so bits beyond the 53rd of a
// 64-bit integer are lost.
// source: ONNX operator definitions, opset 11 to 24
#include <fmt/format.h>

#include <array>
#include <functional>

#include "sim/model/operator_parts.h"

namespace npuscope::host {
namespace {

using Bits = std::uint64_t;

double number_of(Bits bits, ElementType element) {
    return range_of(element).low < 0 ? static_cast<double>(static_cast<std::int64_t>(bits))
                                     : static_cast<double>(bits);
}

Types integer_types(const Operands& operands) {
    require(!is_float(operands.element(0)) && operands.element(0) != ElementType::Bool,
            fmt::format("its input has type {}", enum_name(operands.element(0))),
            "the operator needs integers");
    Sizes sizes = operands.sizes(0);
    for (std::size_t i = 1; i < operands.values.size(); ++i) {
        sizes = common_sizes(sizes, operands.sizes(i));
    }
    return {{operands.element(0), sizes}};
}

template <class Operation>
Values combine_bits(const Operands& operands, Operation operation) {
    const ElementType element = integer_types(operands).front().element;
    return {combine(operands.at(0), operands.at(1), [=](double a, double b) {
        return number_of(operation(to_bits(a), to_bits(b)), element);
    })};
}
template <auto Operation>
Values each_pair(const Operands& operands) {
    return combine_bits(operands, Operation);
}

Values complement(const Operands& operands) {
    const GraphValue& input = operands.at(0);
    const TensorType type = integer_types(operands).front();
    const double ones = range_of(type.element).low < 0 ? -1 : range_of(type.element).high;
    return {fill(type, [&](std::size_t i) { return ones - input.numbers[i]; })};
}

Values shift(const Operands& operands) {
    const std::string direction = operands.node.text("direction", "");
    require(direction == "LEFT" || direction == "RIGHT",
            fmt::format("direction '{}' is not known", direction), "LEFT or RIGHT");
    require(range_of(operands.element(0)).low == 0,
            fmt::format("its input has type {}", enum_name(operands.element(0))),
            "the operator needs unsigned integers");
    constexpr Bits width = 64;
    return direction == "LEFT"
               ? combine_bits(operands, [](Bits a, Bits b) { return b < width ? a << b : 0; })
               : combine_bits(operands, [](Bits a, Bits b) { return b < width ? a >> b : 0; });
}

constexpr OperatorRow bits(std::string_view op, std::size_t inputs, Evaluate evaluate) {
    return row(op, {inputs, inputs}, evaluate) | same_types | inferring(integer_types);
}

}  // namespace

std::span<const OperatorRow> bitwise_operators() {
    static constexpr std::array rows{bits("BitwiseAnd", 2, each_pair<std::bit_and<>{}>),
                                     bits("BitwiseOr", 2, each_pair<std::bit_or<>{}>),
                                     bits("BitwiseXor", 2, each_pair<std::bit_xor<>{}>),
                                     bits("BitwiseNot", 1, complement),
                                     bits("BitShift", 2, shift) | attributes("direction")};
    return rows;
}

}  // namespace npuscope::host
