// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sim/model/quantised_form.h"

namespace npuscope {
namespace {

constexpr double largest_ratio = 16384;  // of the two maps' scales
constexpr int factor_bits = 14;          // of the factor of the map with the larger scale
constexpr int least_shift = 26;          // sums have 25 bits: none of them lies halfway
constexpr int most_gain = 63;            // multiplied sums have 31 bits
constexpr int least_gain_shift = 32;     // likewise none of them
constexpr int most_shift = 60;           // source: NVDLA_SDP.rdl, CVT_SHIFT

/// An operand with its scale.
struct Term {
    std::string tensor;
    double scale = 1;
    double zero = 0;
};

std::optional<Term> dequantised_term(const GraphView& view, const std::string& tensor) {
    const auto from = dequantised(view, tensor);
    if (!from || view.graph().is_constant(from->tensor) || from->scales.size() != 1) {
        return std::nullopt;
    }
    return Term{from->tensor, from->scales.front(), from->zeros.front()};
}

/// Operands of com.microsoft.QLinearAdd: a, scale, zero, b, scale, zero, scale, zero.
std::optional<double> number_of(const GraphView& view, const GraphNode& node, std::size_t input) {
    const GraphValue* value = view.graph().constant(node.input(input));
    return value != nullptr && value->numbers.size() == 1 ? std::optional(value->numbers.front())
                                                          : std::nullopt;
}

/// The nearest product of a gain and an odd scale; false where sums could lie halfway.
bool take_scale(double wanted, ScaledSum& sum) {
    double error = std::numeric_limits<double>::infinity();
    for (int gain = 1; gain <= most_gain; ++gain) {
        const double part = wanted / gain;
        const int shift = shift_before(part);
        if (shift < (gain == 1 ? least_shift : least_gain_shift) || shift > most_shift) {
            continue;
        }
        const std::int64_t scale = to_integer(std::nearbyint(std::ldexp(part, shift))) | 1;
        const double off = std::abs(std::ldexp(static_cast<double>(scale), -shift) / part - 1);
        if (scale <= to_integer(largest_scale) && off < error) {
            error = off;
            sum.gain = gain;
            sum.scale = scale;
            sum.shift = shift;
        }
    }
    return std::isfinite(error);
}

/// A sum is off by the larger map's number times the error of its factor, and by its own size times
/// that of the scale.
Deviation deviation_of(const ScaledSum& sum, const Term& large, const Term& small,
                       const Requantised& end) {
    const double mean_code = 64;
    const double all_codes = 255;
    const double ratio = large.scale / small.scale;
    const double factor =
        std::abs(static_cast<double>(sum.factor) / std::ldexp(1.0, static_cast<int>(sum.left)) -
                 ratio) *
        small.scale / end.scale;
    const double wanted = small.scale / end.scale;
    const double used = std::ldexp(static_cast<double>(sum.scale * sum.gain),
                                   static_cast<int>(sum.left - sum.shift));
    const double scale = std::abs(used / wanted - 1);
    const double below = end.zero - end.low;
    const double above = end.high - end.zero;
    const double mean = (below * below + above * above) / (2 * std::max(below + above, 1.0));
    const double offset =
        static_cast<double>(sum.scale) / std::ldexp(1.0, static_cast<int>(sum.shift));
    return {false, factor * all_codes + scale * std::max(below, above) + offset / 2,
            factor * mean_code + scale * mean + offset / 4};
}

std::optional<ScaledSum> scaled_sum(const Term& large, const Term& small, const Requantised& end) {
    ScaledSum sum;
    sum.a_zero = to_integer(large.zero);
    sum.b_zero = to_integer(small.zero);
    const double ratio = large.scale / small.scale;
    if (!(ratio >= 1 && ratio < largest_ratio)) {
        return std::nullopt;
    }
    sum.left = std::max(factor_bits - std::ilogb(ratio), 0);
    if (std::nearbyint(std::ldexp(ratio, static_cast<int>(sum.left))) > largest_scale) {
        --sum.left;  // a ratio that lies just below a power of two
    }
    const double unit = std::ldexp(1.0, static_cast<int>(sum.left));
    sum.factor = to_integer(std::nearbyint(ratio * unit));
    const double scale = small.scale / end.scale / unit;
    if (!(scale > 0 && std::isfinite(scale)) || !take_scale(scale, sum)) {
        return std::nullopt;
    }
    const auto shift = static_cast<int>(sum.shift);
    sum.low = end.low;
    sum.high = end.high;
    sum.zero = to_integer(end.high) - 127;
    sum.offset =
        to_integer(std::nearbyint(std::ldexp(end.zero - static_cast<double>(sum.zero), shift) /
                                  static_cast<double>(sum.scale)));
    sum.relu = end.low == end.zero && end.high - end.low < 255;
    const bool clips_itself = sum.relu || end.high - end.low == 255;
    return clips_itself ? std::optional(sum) : std::nullopt;
}

constexpr std::array whole_numbers{
    std::pair{"a_zero", &ScaledSum::a_zero}, std::pair{"b_zero", &ScaledSum::b_zero},
    std::pair{"factor", &ScaledSum::factor}, std::pair{"left", &ScaledSum::left},
    std::pair{"gain", &ScaledSum::gain},     std::pair{"offset", &ScaledSum::offset},
    std::pair{"scale", &ScaledSum::scale},   std::pair{"shift", &ScaledSum::shift},
    std::pair{"zero", &ScaledSum::zero}};

}  // namespace

double ScaledSum::of(double a, double b) const {
    std::int64_t sum =
        (to_integer(a) - a_zero) * factor + (to_integer(b) - b_zero) * (std::int64_t{1} << left);
    sum = relu ? std::max<std::int64_t>(sum, 0) : sum;
    const std::int64_t half = std::int64_t{1} << (shift - 1);
    const std::int64_t result = (((sum * gain + offset) * scale + half) >> shift) + zero;
    return std::clamp(static_cast<double>(result), low, high);
}

GraphNode scaled_sum_node(const ScaledSum& sum, const std::string& a, const std::string& b,
                          const Requantised& end) {
    GraphNode node;
    node.op = scaled_sum_op;
    node.inputs = {a, b};
    node.outputs = {end.output};
    for (const auto& [name, member] : whole_numbers) {
        node.attributes[name] = sum.*member;
    }
    node.attributes["relu"] = std::int64_t{sum.relu ? 1 : 0};
    node.attributes["low"] = sum.low;
    node.attributes["high"] = sum.high;
    node.attributes["to"] = std::int64_t{end.type == ElementType::Int8 ? 3 : 2};
    return node;
}

ScaledSum scaled_sum_of(const GraphNode& node) {
    ScaledSum sum;
    for (const auto& [name, member] : whole_numbers) {
        sum.*member = node.integer(name, 0);
    }
    sum.relu = node.integer("relu", 0) != 0;
    sum.low = node.number("low", 0);
    sum.high = node.number("high", 0);
    return sum;
}

std::optional<SumForm> read_quantised_sum(const GraphView& view, std::size_t index) {
    const GraphNode& node = view.node(index);
    std::optional<Term> a;
    std::optional<Term> b;
    std::optional<Requantised> end;
    if (node.op == "Add") {
        a = dequantised_term(view, node.inputs[0]);
        b = dequantised_term(view, node.inputs[1]);
        end = requantised(view, node.outputs[0]);
    } else if (node.op == "com.microsoft.QLinearAdd" && node.inputs.size() == 8) {
        std::array<std::optional<double>, 6> numbers;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            numbers[i] = number_of(view, node, i / 2 * 3 + 1 + i % 2);
        }
        numbers[4] = number_of(view, node, 6);
        numbers[5] = number_of(view, node, 7);
        if (std::ranges::any_of(numbers, [](const auto& number) { return !number; })) {
            return std::nullopt;
        }
        a = Term{node.inputs[0], *numbers[0], *numbers[1]};
        b = Term{node.inputs[3], *numbers[2], *numbers[3]};
        const ElementType type = view.graph().types.at(node.inputs[0]).element;
        end = Requantised{node.outputs[0],     type, *numbers[4], *numbers[5], range_of(type).low,
                          range_of(type).high, {}};
    }
    const auto narrow = [&](const std::optional<Term>& term) {
        return term && !is_wide(view.graph().types.at(term->tensor).element);
    };
    const bool maps = narrow(a) && narrow(b) && end && !is_wide(end->type) &&
                      view.sizes(a->tensor) == view.sizes(b->tensor);
    if (!maps) {
        return std::nullopt;
    }
    if (a->scale < b->scale) {
        std::swap(a, b);
    }
    const auto sum = scaled_sum(*a, *b, *end);
    if (!sum) {
        return std::nullopt;
    }
    SumForm form{scaled_sum_node(*sum, a->tensor, b->tensor, *end), end->nodes,
                 deviation_of(*sum, *a, *b, *end)};
    form.node.name = node.name;
    return form;
}

}  // namespace npuscope
