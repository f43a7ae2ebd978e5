// SPDX-License-Identifier: Apache-2.0
// Shared by several operator families: how they read their operands, tensors made of another
// tensor's elements, sums of convolutions, ranges of values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.h"
#include "sim/model/operators.h"
#include "sim/model/window.h"

namespace npuscope::host {

/// Attributes that several operators have.
inline constexpr std::string_view window_attributes =
    "auto_pad dilations group kernel_shape pads strides";

/// Reports an error in the user's model unless `good`.
void require(bool good, const std::string& sentence, const std::string& remedy);

/// ConfigError where an operand is not of floats: rows whose other operands have other types.
void require_float(const Operands& operands, std::size_t index);

/// Steps that one node may take on the host: some minutes.
inline constexpr std::uint64_t most_work = std::uint64_t{1} << 36U;
/// ConfigError where a node takes more than `most_work` steps: the product of `factors`.
void require_work(const std::vector<std::uint64_t>& factors);

inline std::size_t unsigned_of(std::int64_t value) { return static_cast<std::size_t>(value); }

/// `axis` of ONNX (negative counts from the end) as an index below `rank`.
std::size_t axis_index(std::int64_t axis, std::size_t rank);
/// The axes that a reduction's operand or attribute lists, from 0 up; none if it lists none.
std::vector<std::int64_t> reduced_axes(const Graph& graph, const GraphNode& node);
/// Strides between elements along each axis.
std::vector<std::size_t> steps_of(const Sizes& sizes);
/// A constant operand's values as integers.
std::vector<std::int64_t> integers_of(const GraphValue& value);
/// Integers of an operand, or of the attribute used instead in older opsets.
std::vector<std::int64_t> listed(const Operands& operands, std::size_t index,
                                 const char* attribute);
/// The value of a one-element operand.
double scalar_of(const GraphValue& value, const char* what);

/// The element type that an attribute names by ONNX's code, or `fallback` if it is omitted.
ElementType element_of(const GraphNode& node, const char* attribute, ElementType fallback);

/// Broadcast sizes of both: equal, or 1 in one of them.
Sizes common_sizes(const Sizes& a, const Sizes& b);
/// Index into an operand for every element of the result; steps are 0 where it is broadcast.
std::vector<std::size_t> broadcast_indices(const Sizes& own, const Sizes& result);

/// Weight of an element in a cubic convolution with coefficient `a`, by its distance below 2.
inline double cubic_weight(double distance, double a) {
    const double x = std::abs(distance);
    return x <= 1 ? ((a + 2) * x - (a + 3)) * x * x + 1 : ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

/// A listed index (negative counts from the end) as a position below `size`.
std::size_t place_of(double number, std::int64_t size);
/// ConfigError where a list of indices along `axis` is larger than its data along another one.
void check_list(const Sizes& list, const Sizes& data, std::size_t axis);

/// Numbers at `row`, `step` apart, become the logarithms of their softmax.
void take_log_softmax(double* row, std::size_t step, std::size_t length);

/// Counts through `sizes` like an odometer, last dimension fastest.
class Odometer {
 public:
    explicit Odometer(const Sizes& sizes) : sizes_(sizes), at_(sizes.size(), 0) {}
    const std::vector<std::int64_t>& at() const { return at_; }
    void next() {
        for (std::size_t i = at_.size(); i-- > 0;) {
            if (++at_[i] < sizes_[i]) {
                return;
            }
            at_[i] = 0;
        }
    }

 private:
    const Sizes& sizes_;
    std::vector<std::int64_t> at_;
};

/// Result of the given type; `number` is called for every element, in order.
template <class Number>
GraphValue fill(const TensorType& type, Number number) {
    GraphValue value = zeros(type);
    for (std::size_t i = 0; i < value.numbers.size(); ++i) {
        value.numbers[i] = number(i);
    }
    return value;
}

/// Elementwise combination of two operands, broadcast to their common sizes.
template <class Operation>
GraphValue combine(const GraphValue& a, const GraphValue& b, Operation operation) {
    const TensorType type{a.type.element, common_sizes(a.type.sizes, b.type.sizes)};
    if (a.type.sizes == b.type.sizes) {
        return fill(type, [&](std::size_t i) { return operation(a.numbers[i], b.numbers[i]); });
    }
    const auto of_a = broadcast_indices(a.type.sizes, type.sizes);
    const auto of_b = broadcast_indices(b.type.sizes, type.sizes);
    return fill(type,
                [&](std::size_t i) { return operation(a.numbers[of_a[i]], b.numbers[of_b[i]]); });
}

/// Result whose element at each position is the input's element at `source(position)`; a negative
/// index means `outside`.
template <class Source>
GraphValue pick(const GraphValue& input, const Sizes& sizes, double outside, Source source) {
    GraphValue result = zeros({input.type.element, sizes});
    Odometer odometer(sizes);
    for (double& number : result.numbers) {
        const std::int64_t index = source(odometer.at());
        number = index < 0 ? outside : input.numbers[static_cast<std::size_t>(index)];
        odometer.next();
    }
    return result;
}

inline std::int64_t index_of(const std::vector<std::int64_t>& at,
                             const std::vector<std::size_t>& steps) {
    std::int64_t index = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
        index += at[i] * static_cast<std::int64_t>(steps[i]);
    }
    return index;
}

// The sums of a convolution as simple loops over real numbers, with batch and groups; 1D
// convolutions have a height of 1.

/// Window of a convolution of `data` [N C space] with `weights` [K C/groups space], checked.
Window checked_window(const GraphNode& node, const Sizes& data, const Sizes& weights);
/// Sizes of its result, [N K space].
Sizes conv_sizes(const GraphNode& node, const Sizes& data, const Sizes& weights);

/// Every product is (data - data_zero) * (weight - weight_zero); the padding value is data_zero.
struct ZeroPoints {
    double data = 0;
    std::vector<double> weight{0};  ///< one, or one per kernel
};
/// Sums [N K space]; `bias` is empty or has one value per kernel.
std::vector<double> conv_sums(const GraphNode& node, const GraphValue& data,
                              const GraphValue& weights, const std::vector<double>& bias,
                              const ZeroPoints& zero);

/// Product of operands 0 and 1 (minus the zero points in operands 2 and 3).
Types matmul_types(const Operands& operands);
Values matmul_integer(const Operands& operands);

/// The type of the first operand.
Types own_type(const Operands& operands);

inline NumberRange join_ranges(const NumberRange& a, const NumberRange& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

/// Of a function of each element of the only operand.
template <class Function>
Values change(const Operands& operands, Function function) {
    const GraphValue& input = operands.at(0);
    return {fill(input.type, [&](std::size_t i) { return function(input.numbers[i]); })};
}
template <auto Function>
Values each(const Operands& operands) {
    return change(operands, Function);
}

/// The first operand's range: results are some of its elements.
ValueRange range_of_first(const RangeOperands& operands);
/// The first operand's range and 0: some elements are left out or added.
ValueRange range_of_first_or_zero(const RangeOperands& operands);
/// The first operand's range if the result's type holds it, otherwise the type's.
ValueRange stored_range(const RangeOperands& operands);
/// Ranges of all operands, combined pairwise.
template <class Combine>
ValueRange combined_range(const RangeOperands& operands, Combine combine) {
    ValueRange values = operands.at(0);
    for (std::size_t i = 1; i < operands.node.inputs.size(); ++i) {
        const ValueRange& next = operands.at(i);
        values = {values.whole && next.whole, combine(values.range, next.range),
                  values.assumed || next.assumed};
    }
    return values;
}

// Rows of the tables: an operator with its inputs and evaluation, and what else is known of it,
//
//     row("Slice", {1, 5}, slice) | attributes("axes ends starts") | sized_by(1, 2, 3, 4) | moves

constexpr OperatorRow row(std::string_view op, InputCount inputs, Evaluate evaluate) {
    return {.op = op, .inputs = inputs, .evaluate = evaluate};
}

/// A member of a row, as a table sets it.
template <class Type>
struct RowPart {
    Type OperatorRow::*member;
    Type value;
};
template <class Type>
constexpr OperatorRow operator|(OperatorRow row, const RowPart<Type>& part) {
    row.*part.member = part.value;
    return row;
}

inline constexpr RowPart same_types{&OperatorRow::types, TypeRule::Same};
inline constexpr RowPart float_types{&OperatorRow::types, TypeRule::Float};
inline constexpr RowPart takes_infinity{&OperatorRow::takes_infinity, true};
inline constexpr RowPart never_folds{&OperatorRow::folds, false};
inline constexpr RowPart of_sizes{&OperatorRow::of_sizes, true};
inline constexpr RowPart elementwise{&OperatorRow::elementwise, true};
inline constexpr RowPart moves{&OperatorRow::moves, true};
constexpr RowPart<Infer> inferring(Infer infer) { return {&OperatorRow::infer, infer}; }
constexpr RowPart<std::string_view> attributes(std::string_view names) {
    return {&OperatorRow::attributes, names};
}
/// Operands, by their indices.
template <class... Index>
constexpr RowPart<std::uint32_t> sized_by(Index... indices) {
    return {&OperatorRow::sizing, (operand(static_cast<unsigned>(indices)) | ...)};
}
constexpr RowPart<Check> checking(Check check) { return {&OperatorRow::check, check}; }
constexpr RowPart<Range> ranging(Range range) { return {&OperatorRow::range, range}; }
constexpr RowPart<MacRule> macs(MacRule rule) { return {&OperatorRow::macs, rule}; }
constexpr RowPart<std::size_t> weights_at(std::size_t operand) {
    return {&OperatorRow::weights, operand};
}
constexpr RowPart<ViewRule> views(ViewRule rule) { return {&OperatorRow::view, rule}; }
inline constexpr RowPart first_range = ranging(range_of_first);

/// A function of each element of one operand.
constexpr OperatorRow function(std::string_view op, Evaluate evaluate) {
    return row(op, {1, 1}, evaluate) | inferring(own_type) | elementwise;
}

}  // namespace npuscope::host
