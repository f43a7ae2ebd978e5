// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "sim/model/quantised_form.h"

namespace npuscope {
namespace {

constexpr double largest_ratio = 16384;  // of the two maps' scales
constexpr double least_ratio = 0.25;     // below which a shifted map would have more than 25 bits
constexpr int factor_bits = 14;          // of the factor of the map with the larger scale
constexpr int least_shift = 26;          // sums have 25 bits: none of them lies halfway
constexpr int most_gain = 63;            // multiplied sums have 31 bits
constexpr int least_gain_shift = 32;     // likewise none of them
constexpr double largest_left = 64;      // of maps that are only shifted
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

/// What a sum is made of: the map that is multiplied, the one that is shifted, and of which of them the
/// last scale is the exact one.
struct SumOrder {
    const Term& multiplied;
    const Term& shifted;
    const Requantised& end;
    bool exact_multiplied;
};

/// A sum is off by each map's number times the error of its factor.
Deviation deviation_of(const ScaledSum& sum, const SumOrder& order) {
    const double mean_code = 64;
    const double all_codes = 255;
    const double unit =
        std::ldexp(static_cast<double>(sum.scale * sum.gain), static_cast<int>(-sum.shift));
    const double first =
        static_cast<double>(sum.factor) * unit - order.multiplied.scale / order.end.scale;
    const double second =
        std::ldexp(unit, static_cast<int>(sum.left)) - order.shifted.scale / order.end.scale;
    const double error = std::abs(first) + std::abs(second);
    const double offset =
        static_cast<double>(sum.scale) / std::ldexp(1.0, static_cast<int>(sum.shift));
    return {false, error * all_codes + offset / 2, error * mean_code + offset / 4};
}

std::optional<ScaledSum> scaled_sum(const SumOrder& order) {
    const auto& [multiplied, shifted, end, exact_multiplied] = order;
    ScaledSum sum;
    sum.a_zero = to_integer(multiplied.zero);
    sum.b_zero = to_integer(shifted.zero);
    const double ratio = multiplied.scale / shifted.scale;
    if (!(ratio > least_ratio && ratio < largest_ratio)) {
        return std::nullopt;
    }
    sum.left = std::max(factor_bits - std::ilogb(ratio), 0);
    if (std::nearbyint(std::ldexp(ratio, static_cast<int>(sum.left))) > largest_scale) {
        --sum.left;  // a ratio that lies just below a power of two
    }
    const double unit = std::ldexp(1.0, static_cast<int>(sum.left));
    sum.factor = to_integer(std::nearbyint(ratio * unit));
    const double scale = exact_multiplied
                             ? multiplied.scale / end.scale / static_cast<double>(sum.factor)
                             : shifted.scale / end.scale / unit;
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

/// The sum that deviates least, of those that multiply either map. A ReLU needs the zero of the map that
/// is shifted where it is stored, so that maps of two zeros keep their order.
std::optional<SumForm> nearest_sum(const Term& large, const Term& small, const Requantised& end) {
    std::optional<SumForm> best;
    for (const bool swapped : {false, true}) {
        const bool may_swap = large.zero == small.zero && large.scale != small.scale;
        for (const bool exact_multiplied : {false, true}) {
            const SumOrder order{swapped ? small : large, swapped ? large : small, end,
                                 exact_multiplied};
            const auto sum = !swapped || may_swap ? scaled_sum(order) : std::nullopt;
            if (!sum) {
                continue;
            }
            const Deviation deviation = deviation_of(*sum, order);
            if (!best || deviation.expected < best->deviation->expected) {
                best = {scaled_sum_node(*sum, order.multiplied.tensor, order.shifted.tensor, end),
                        end.nodes, deviation};
            }
        }
    }
    return best;
}

/// In exactly the model's numbers: `b` is the map with the larger scale. Where there is a division, the
/// offset of its last multiplication is half a step for each of the zero's, which has to be even.
std::optional<ScaledSum> even_sum(const Term& small, const Term& large, const Requantised& end) {
    const double ratio = large.scale / small.scale;
    const double unit = end.scale / small.scale;
    if (!is_power_of_two(ratio) || !is_power_of_two(unit) || unit < 1 || ratio > largest_left) {
        return std::nullopt;
    }
    ScaledSum sum;
    sum.to_even = true;
    sum.a_zero = to_integer(small.zero);
    sum.b_zero = to_integer(large.zero);
    sum.left = std::ilogb(ratio);
    sum.shift = std::ilogb(unit);
    sum.zero = to_integer(end.high) - 127;
    sum.offset = to_integer(end.zero) - sum.zero;
    sum.low = end.low;
    sum.high = end.high;
    sum.relu = end.low == end.zero && end.high - end.low < 255;
    const bool clips_itself = sum.relu || end.high - end.low == 255;
    const bool divides =
        sum.offset % 2 == 0 && even_division(static_cast<int>(sum.shift), 1).has_value();
    const bool possible = clips_itself && (sum.shift == 0 || divides);
    return possible ? std::optional(sum) : std::nullopt;
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
    if (to_even) {
        const double result =
            std::nearbyint(std::ldexp(static_cast<double>(sum), -static_cast<int>(shift)));
        return std::clamp(result + static_cast<double>(offset + zero), low, high);
    }
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
    node.attributes["to_even"] = std::int64_t{sum.to_even ? 1 : 0};
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
    sum.to_even = node.integer("to_even", 0) != 0;
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
    const auto even = even_sum(*b, *a, *end);
    std::optional<SumForm> form =
        even ? SumForm{scaled_sum_node(*even, b->tensor, a->tensor, *end), end->nodes, {}}
             : nearest_sum(*a, *b, *end);
    if (!form) {
        return std::nullopt;
    }
    form->node.name = node.name;
    return form;
}

}  // namespace npuscope
