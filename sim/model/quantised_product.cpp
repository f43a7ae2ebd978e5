// SPDX-License-Identifier: Apache-2.0
// The product of two 8-bit maps, or of a map with one value per channel, as one integer operator.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "sim/model/quantised_form.h"

namespace npuscope {
namespace {

constexpr std::int64_t most_product_gain = 8191;  // multiplied by it, a 16-bit product has 29
constexpr std::int64_t least_product_gain = 1024;
constexpr std::size_t most_tried = 8;
constexpr double most_product_deviation =
    0.0005;  // share of all results, above which the host multiplies
constexpr std::array product_numbers{
    std::pair{"a_zero", &ScaledProduct::a_zero}, std::pair{"b_zero", &ScaledProduct::b_zero},
    std::pair{"gain", &ScaledProduct::gain},     std::pair{"offset", &ScaledProduct::offset},
    std::pair{"scale", &ScaledProduct::scale},   std::pair{"shift", &ScaledProduct::shift},
    std::pair{"zero", &ScaledProduct::zero}};

/// The SDP multiplies by stored values; the difference to their zero point is a shift of the other
/// map.
bool may_be_operand(const ScaledMap& factor) {
    const double moved = range_of(factor.type).high - 127 - factor.zero;
    return moved == 0 || is_power_of_two(moved);
}

/// Products of gain and scale near a factor, closest first.
std::vector<ScaledProduct> near_factor(const ScaledProduct& common, double factor, double zero) {
    struct Near {
        ScaledProduct product;
        double error;
    };
    std::vector<Near> found;
    for (std::int64_t gain = least_product_gain; gain <= most_product_gain; ++gain) {
        ScaledProduct product = common;
        const double part = factor / static_cast<double>(gain);
        product.gain = gain;
        product.shift = shift_before(part);
        product.scale =
            to_integer(std::nearbyint(std::ldexp(part, static_cast<int>(product.shift))));
        if (product.shift < 1 || product.shift > 60 || product.scale > to_integer(largest_scale)) {
            continue;
        }
        const double made =
            std::ldexp(static_cast<double>(product.scale * gain), -static_cast<int>(product.shift));
        product.offset = to_integer(std::nearbyint(
            std::ldexp(zero - static_cast<double>(product.zero), static_cast<int>(product.shift)) /
            static_cast<double>(product.scale)));
        if (std::abs(product.offset) <= std::numeric_limits<std::int32_t>::max() / 4) {
            found.push_back({product, std::abs(made - factor)});
        }
    }
    std::ranges::stable_sort(found, {}, &Near::error);
    std::vector<ScaledProduct> nearest;
    for (std::size_t i = 0; i < std::min(found.size(), most_tried); ++i) {
        nearest.push_back(found[i].product);
    }
    return nearest;
}

/// The share of all pairs of codes whose result differs from the model's; more than 1 if any
/// differs by more than a step.
double deviation_of(const ScaledProduct& product, const ScaledMap& a, const ScaledMap& b,
                    const Requantised& end) {
    std::uint32_t differ = 0;
    for (int i = 0; i < 256; ++i) {
        const double x = range_of(a.type).low + i;
        const double real = rounded_float((x - a.zero) * a.scale);
        for (int j = 0; j < 256; ++j) {
            const double y = range_of(b.type).low + j;
            const double both = rounded_float(real * rounded_float((y - b.zero) * b.scale));
            const double result = std::clamp(
                std::nearbyint(rounded_float(both / end.scale)) + end.zero, end.low, end.high);
            const double off = std::abs(result - product.of(x, y));
            if (off > 1) {
                return 2;
            }
            differ += off > 0 ? 1U : 0U;
        }
    }
    return differ / 65536.0;
}

}  // namespace

double ScaledProduct::of(double a, double b) const {
    const std::int64_t product = (to_integer(a) - a_zero) * (to_integer(b) - b_zero) * gain;
    const std::int64_t scaled =
        ((relu ? std::max<std::int64_t>(product, 0) : product) + offset) * scale;
    const std::int64_t half = std::int64_t{1} << (shift - 1);
    const std::int64_t result = scaled < 0 ? -((half - scaled) >> shift) : (scaled + half) >> shift;
    return std::clamp(static_cast<double>(result + zero), low, high);
}

ScaledProduct scaled_product_of(const GraphNode& node) {
    ScaledProduct product;
    for (const auto& [name, member] : product_numbers) {
        product.*member = node.integer(name, 0);
    }
    product.relu = node.integer("relu", 0) != 0;
    product.low = node.number("low", 0);
    product.high = node.number("high", 0);
    return product;
}

namespace {

/// The maps in the order that the SDP needs; nothing if it does not support them.
std::optional<TwoMaps> factors_of(const GraphView& view, const GraphNode& node) {
    const bool multiplies = node.op == "Mul" || node.op == "com.microsoft.QLinearMul";
    std::optional<TwoMaps> factors = multiplies ? two_maps(view, node) : std::nullopt;
    if (!factors || view.sizes(node.outputs[0]).size() > 4) {
        return std::nullopt;
    }
    auto& [a, b, end] = *factors;
    const auto is_byte_map = [&](const ScaledMap& map) {
        return is_byte(map.type) && !view.graph().is_constant(map.tensor);
    };
    if (!is_byte_map(a) || !is_byte_map(b) || is_wide(end.type)) {
        return std::nullopt;
    }
    const Sizes& sizes = view.sizes(node.outputs[0]);
    const Sizes channels = sizes.size() == 4 ? Sizes{sizes[0], sizes[1], 1, 1} : sizes;
    if (view.sizes(a.tensor) != sizes || (view.sizes(b.tensor) == sizes && !may_be_operand(b))) {
        std::swap(a, b);
    }
    const Sizes& other = view.sizes(b.tensor);
    const bool clips_itself = end.high - end.low == 255 || end.low == end.zero;
    const bool fits = view.sizes(a.tensor) == sizes && (other == sizes || other == channels);
    return fits && may_be_operand(b) && clips_itself ? factors : std::nullopt;
}

GraphNode product_node(const ScaledProduct& product, const GraphNode& node,
                       const TwoMaps& factors) {
    GraphNode made{scaled_product_op,
                   node.name,
                   {factors.a.tensor, factors.b.tensor},
                   {factors.end.output},
                   {}};
    for (const auto& [name, member] : product_numbers) {
        made.attributes[name] = product.*member;
    }
    made.attributes["relu"] = std::int64_t{product.relu ? 1 : 0};
    made.attributes["low"] = product.low;
    made.attributes["high"] = product.high;
    made.attributes["to"] = std::int64_t{element_row(factors.end.type).onnx};
    return made;
}

}  // namespace

std::optional<IntegerForm> read_quantised_product(const GraphView& view, std::size_t index) {
    const GraphNode& node = view.node(index);
    const auto factors = factors_of(view, node);
    if (!factors) {
        return std::nullopt;
    }
    const auto& [a, b, end] = *factors;
    ScaledProduct product;
    product.a_zero = to_integer(a.zero);
    product.b_zero = to_integer(b.zero);
    product.relu = end.low == end.zero && end.high - end.low < 255;
    product.zero = to_integer(end.high) - 127;
    product.low = end.low;
    product.high = end.high;
    double least = most_product_deviation;
    std::optional<ScaledProduct> best;
    for (const ScaledProduct& one : near_factor(product, a.scale * b.scale / end.scale, end.zero)) {
        const double deviation = deviation_of(one, a, b, end);
        if (deviation < least || (!best && deviation == least)) {
            least = deviation;
            best = one;
        }
    }
    if (!best) {
        return std::nullopt;
    }
    constexpr double off = 1e-3;  // of a step, by rounding gain, scale and offset
    return IntegerForm{product_node(*best, node, *factors), end.nodes,
                       Deviation{false, off, least}};
}

}  // namespace npuscope
