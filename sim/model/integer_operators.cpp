// SPDX-License-Identifier: Apache-2.0
// Our own integer operators, for chains of ONNX operators between quantisers (quantised_form.h).
#include <algorithm>
#include <array>
#include <vector>

#include "sim/model/operator_parts.h"
#include "sim/model/quantised_form.h"

namespace npuscope::host {
namespace {

/// The result's type is `to`, with the sizes of the map.
Types types_of_map(const Operands& operands) {
    const bool is_signed = operands.node.integer("to", 3) == 3;
    return {{is_signed ? ElementType::Int8 : ElementType::Uint8, operands.sizes(0)}};
}

bool fits(std::int64_t number, int bits) { return std::abs(number) < std::int64_t{1} << bits; }

void check_scaled_sum(const Operands& operands) {
    const ScaledSum sum = scaled_sum_of(operands.node);
    require(sum.shift >= (sum.to_even ? 0 : 1) && sum.shift < 62 && sum.left >= 0 &&
                sum.left < 24 && fits(sum.a_zero, 10) && fits(sum.b_zero, 10) && sum.before >= 0 &&
                sum.before < 8 && fits(sum.other, 16) && fits(sum.factor, 16) &&
                fits(sum.gain, 6) && fits(sum.offset, 32) && fits(sum.scale, 16) &&
                fits(sum.zero, 10),
            "its constants are too large",
            "this node type is internal to npuscope: remove it from the model");
}

Types scaled_sum_types(const Operands& operands) {
    require(operands.sizes(0) == operands.sizes(1), "its operands differ in shape",
            "add feature maps of the same shape");
    return types_of_map(operands);
}

Values scaled_sum(const Operands& operands) {
    const ScaledSum sum = scaled_sum_of(operands.node);
    return {fill(scaled_sum_types(operands).front(), [&](std::size_t i) {
        return sum.of(operands.at(0).numbers[i], operands.at(1).numbers[i]);
    })};
}

ValueRange scaled_sum_range(const RangeOperands& operands) {
    const ScaledSum sum = scaled_sum_of(operands.node);
    return {true, {sum.low, sum.high}, operands.at(0).assumed || operands.at(1).assumed};
}

void check_scaled_product(const Operands& operands) {
    const ScaledProduct product = scaled_product_of(operands.node);
    require(product.shift >= 1 && product.shift < 62 && fits(product.a_zero, 10) &&
                fits(product.b_zero, 10) && fits(product.gain, 14) && fits(product.offset, 31) &&
                fits(product.scale, 16) && fits(product.zero, 10),
            "its constants are too large",
            "this node type is internal to npuscope: remove it from the model");
}
Types scaled_product_types(const Operands& operands) {
    return {{types_of_map(operands).front().element,
             common_sizes(operands.sizes(0), operands.sizes(1))}};
}
Values scaled_product(const Operands& operands) {
    const ScaledProduct product = scaled_product_of(operands.node);
    const TensorType type = scaled_product_types(operands).front();
    const auto of_a = broadcast_indices(operands.sizes(0), type.sizes);
    const auto of_b = broadcast_indices(operands.sizes(1), type.sizes);
    return {fill(type, [&](std::size_t i) {
        return product.of(operands.at(0).numbers[of_a[i]], operands.at(1).numbers[of_b[i]]);
    })};
}
ValueRange scaled_product_range(const RangeOperands& operands) {
    const ScaledProduct product = scaled_product_of(operands.node);
    return {true, {product.low, product.high}, operands.at(0).assumed || operands.at(1).assumed};
}

void check_scaled_prelu(const Operands& operands) {
    const ScaledPrelu prelu = scaled_prelu_of(operands.node);
    const bool slopes =
        std::ranges::all_of(prelu.slopes, [&](std::int64_t slope) { return fits(slope, 15); });
    require(operands.sizes(0).size() >= 2 && slopes &&
                std::ssize(prelu.slopes) == operands.sizes(0)[1] && prelu.shift >= 1 &&
                prelu.shift < 62 && prelu.slope_shift >= 0 && prelu.slope_shift < 32 &&
                fits(prelu.map_zero, 10) && fits(prelu.gain, 15) && fits(prelu.offset, 31) &&
                fits(prelu.scale, 16) && fits(prelu.zero, 10),
            "its constants are too large, or not one for each channel",
            "this node type is internal to npuscope: remove it from the model");
}
Values scaled_prelu(const Operands& operands) {
    const ScaledPrelu prelu = scaled_prelu_of(operands.node);
    const std::size_t plane = steps_of(operands.sizes(0))[1];
    return {fill(types_of_map(operands).front(), [&](std::size_t i) {
        return prelu.result(operands.at(0).numbers[i],
                            prelu.slopes[i / plane % prelu.slopes.size()]);
    })};
}
ValueRange scaled_prelu_range(const RangeOperands& operands) {
    const ScaledPrelu prelu = scaled_prelu_of(operands.node);
    return {true, {prelu.low, prelu.high}, operands.at(0).assumed};
}

void check_lookup(const Operands& operands) {
    require(is_byte(operands.element(0)) && operands.node.integers("codes").size() == lookup_codes,
            "its table does not have an entry for each code",
            "this node type is internal to npuscope: remove it from the model");
}
Values look_up(const Operands& operands) {
    const std::vector<std::int64_t> codes = operands.node.integers("codes");
    const double low = range_of(operands.element(0)).low;
    return {fill(types_of_map(operands).front(), [&](std::size_t i) {
        return static_cast<double>(
            codes[static_cast<std::size_t>(operands.at(0).numbers[i] - low)]);
    })};
}

}  // namespace

std::span<const OperatorRow> integer_operators() {
    static constexpr std::array rows{
        row(scaled_sum_op, {2, 2}, scaled_sum) | inferring(scaled_sum_types) |
            checking(check_scaled_sum) | ranging(scaled_sum_range),
        row(scaled_product_op, {2, 2}, scaled_product) | inferring(scaled_product_types) |
            checking(check_scaled_product) | ranging(scaled_product_range),
        row(scaled_prelu_op, {1, 1}, scaled_prelu) | inferring(types_of_map) |
            checking(check_scaled_prelu) | ranging(scaled_prelu_range),
        row(lookup_op, {1, 1}, look_up) | inferring(types_of_map) | checking(check_lookup)};
    return rows;
}

}  // namespace npuscope::host
