// SPDX-License-Identifier: Apache-2.0
// A PRelu with one slope per channel between quantisers, as one integer operator.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "models/arith/fixed_point.h"
#include "sim/model/quantised_form.h"

namespace npuscope {
namespace {

constexpr std::int64_t least_slope_gain =
    8192;  // rounding at the slope is by this fraction of a step
constexpr std::int64_t most_slope_gain = 16383;  // 8 bits times it and a 15-bit slope have 38
constexpr int most_slope_shift = 31;             // for slopes near 0
constexpr double most_prelu_deviation =
    0.0005;  // of all results, beyond which the host computes it
constexpr std::array prelu_numbers{std::pair{"map_zero", &ScaledPrelu::map_zero},
                                   std::pair{"gain", &ScaledPrelu::gain},
                                   std::pair{"slope_shift", &ScaledPrelu::slope_shift},
                                   std::pair{"offset", &ScaledPrelu::offset},
                                   std::pair{"scale", &ScaledPrelu::scale},
                                   std::pair{"shift", &ScaledPrelu::shift},
                                   std::pair{"zero", &ScaledPrelu::zero}};

/// The map, the factors for its negative values, and the quantiser.
struct Ends {
    Dequantised map;
    ElementType type = ElementType::Int8;
    std::vector<double> slopes;
    Requantised end;
};

/// The model's result for a code of the map and a slope.
double result_of(const Ends& ends, double code, double slope) {
    const double real = rounded_float((code - ends.map.zeros.front()) * ends.map.scales.front());
    const double bent = real < 0 ? rounded_float(real * slope) : real;
    const double steps = std::nearbyint(rounded_float(bent / ends.end.scale)) + ends.end.zero;
    return std::clamp(steps, ends.end.low, ends.end.high);
}

/// Compares one channel's integers with the model's results.
class Comparison {
 public:
    explicit Comparison(const Ends& ends) : ends_(ends), codes_(range_of(ends.type)) {}

    /// Number of codes, at least 0 or below 0, whose result differs with this slope.
    std::size_t wrong(const ScaledPrelu& form, bool negative, double slope,
                      std::int64_t factor) const {
        const double zero = ends_.map.zeros.front();
        std::size_t differ = 0;
        for (double code = negative ? codes_.low : zero;
             negative ? code < zero : code <= codes_.high; ++code) {
            differ += form.result(code, factor) != result_of(ends_, code, slope) ? 1U : 0U;
        }
        return differ;
    }

 private:
    const Ends& ends_;
    NumberRange codes_;
};

/// Chooses a slope per channel; returns how many codes of all channels then differ.
std::size_t choose_slopes(const Ends& ends, const Comparison& comparison, ScaledPrelu& form) {
    constexpr std::array<std::int64_t, 5> beside{0, -1, 1, -2, 2};
    const std::size_t upper = comparison.wrong(form, false, 0, 0);
    std::size_t all = 0;
    form.slopes.clear();
    for (const double slope : ends.slopes) {
        const std::int64_t nearest =
            to_integer(std::nearbyint(std::ldexp(slope, static_cast<int>(form.slope_shift))));
        std::size_t least = std::numeric_limits<std::size_t>::max();
        std::int64_t best = nearest;
        for (const std::int64_t more : beside) {
            if (least == 0 || std::abs(nearest + more) > to_integer(largest_scale)) {
                continue;
            }
            const std::size_t wrong = comparison.wrong(form, true, slope, nearest + more);
            if (wrong < least) {
                least = wrong;
                best = nearest + more;
            }
        }
        form.slopes.push_back(best);
        all += least + upper;
    }
    return all;
}

/// Slopes in channel order: [C 1 1], [1 C 1 1], or [C] for a map of two sizes.
std::optional<std::vector<double>> slopes_of(const GraphView& view, const GraphNode& node) {
    const Sizes& map = view.sizes(node.inputs[0]);
    const auto from = dequantised(view, node.inputs[1]);
    const GraphValue* value = view.graph().constant(from ? from->tensor : node.inputs[1]);
    if (value == nullptr || map.size() < 2 || map.size() > 4 ||
        (from && (from->scales.size() != 1 || from->zeros.size() != 1))) {
        return std::nullopt;
    }
    Sizes sizes = value->type.sizes;
    sizes.insert(sizes.begin(), map.size() - std::min(sizes.size(), map.size()), 1);
    Sizes channels(map.size(), 1);
    channels[1] = map[1];
    if (sizes != channels) {
        return std::nullopt;
    }
    std::vector<double> slopes = value->numbers;
    for (double& slope : slopes) {
        slope = from ? rounded_float((slope - from->zeros.front()) * from->scales.front()) : slope;
    }
    return slopes;
}

std::optional<Ends> ends_of(const GraphView& view, const GraphNode& node) {
    if (node.op != "PRelu") {
        return std::nullopt;
    }
    const auto map = dequantised(view, node.inputs[0]);
    const auto end = requantised(view, node.outputs[0]);
    auto slopes = slopes_of(view, node);
    if (!map || !end || !slopes || view.graph().is_constant(map->tensor) ||
        map->scales.size() != 1 || map->zeros.size() != 1) {
        return std::nullopt;
    }
    const ElementType type = view.graph().types.at(map->tensor).element;
    const bool fits = is_byte(type) && is_byte(end->type) && end->high - end->low == 255;
    return fits ? std::optional(Ends{*map, type, *std::move(slopes), *end}) : std::nullopt;
}

/// The gain and scale that are closest to the scales' ratio.
std::optional<ScaledPrelu> with_gain(ScaledPrelu form, const Ends& ends) {
    const double factor = ends.map.scales.front() / ends.end.scale;
    std::optional<ScaledPrelu> best;
    double least = std::numeric_limits<double>::infinity();
    for (form.gain = least_slope_gain; form.gain <= most_slope_gain; ++form.gain) {
        const double part = factor / static_cast<double>(form.gain);
        form.shift = shift_before(part);
        form.scale = to_integer(std::nearbyint(std::ldexp(part, static_cast<int>(form.shift))));
        const double unit =
            std::ldexp(1.0, static_cast<int>(form.shift)) / static_cast<double>(form.scale);
        const double offset = (ends.end.zero - static_cast<double>(form.zero)) * unit;
        if (form.shift < 1 || form.shift > 60 || !(std::abs(offset) < 0x1p30)) {
            continue;
        }
        form.offset = to_integer(std::nearbyint(offset));
        const double error = std::abs(static_cast<double>(form.gain) / unit - factor);
        if (error < least) {
            least = error;
            best = form;
        }
    }
    return best;
}

}  // namespace

double ScaledPrelu::result(double code, std::int64_t slope) const {
    const std::int64_t number = (to_integer(code) - map_zero) * gain;
    const std::int64_t bent =
        number < 0 ? shift_right_round(number * slope, static_cast<unsigned>(slope_shift)) : number;
    const std::int64_t scaled =
        shift_right_round((bent + offset) * scale, static_cast<unsigned>(shift));
    return std::clamp(static_cast<double>(scaled + zero), low, high);
}

ScaledPrelu scaled_prelu_of(const GraphNode& node) {
    ScaledPrelu form;
    for (const auto& [name, member] : prelu_numbers) {
        form.*member = node.integer(name, 0);
    }
    form.slopes = node.integers("slopes");
    form.low = node.number("low", 0);
    form.high = node.number("high", 0);
    return form;
}

std::optional<IntegerForm> read_quantised_prelu(const GraphView& view, std::size_t index) {
    const GraphNode& node = view.node(index);
    const auto ends = ends_of(view, node);
    if (!ends) {
        return std::nullopt;
    }
    ScaledPrelu common;
    common.map_zero = to_integer(ends->map.zeros.front());
    common.zero = to_integer(ends->end.high) - 127;
    common.low = ends->end.low;
    common.high = ends->end.high;
    double steepest = 0;
    for (const double slope : ends->slopes) {
        steepest = std::max(steepest, std::abs(slope));
    }
    common.slope_shift = steepest > 0 ? std::min(shift_before(steepest), most_slope_shift) : 0;
    if (!std::isfinite(steepest) || common.slope_shift < 0) {
        return std::nullopt;
    }
    const Comparison comparison(*ends);
    std::optional<ScaledPrelu> form = with_gain(common, *ends);
    if (!form) {
        return std::nullopt;
    }
    const auto codes = static_cast<double>(256 * ends->slopes.size());
    const double differ = static_cast<double>(choose_slopes(*ends, comparison, *form)) / codes;
    if (differ > most_prelu_deviation) {
        return std::nullopt;
    }
    GraphNode made{scaled_prelu_op, node.name, {ends->map.tensor}, {ends->end.output}, {}};
    for (const auto& [name, member] : prelu_numbers) {
        made.attributes[name] = (*form).*member;
    }
    made.attributes["slopes"] = form->slopes;
    made.attributes["low"] = form->low;
    made.attributes["high"] = form->high;
    made.attributes["to"] = std::int64_t{element_row(ends->end.type).onnx};
    constexpr double off = 1.0 / 256;  // of a step, by rounding the slopes
    return IntegerForm{std::move(made), ends->end.nodes, Deviation{false, off, differ}};
}

}  // namespace npuscope
