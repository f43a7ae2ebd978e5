// SPDX-License-Identifier: Apache-2.0
#include "sim/model/layer_sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/model/result_steps.h"

namespace npuscope {

std::vector<KernelFacts> kernel_facts(const QuantisedLayer& layer) {
    const Sizes& sizes = layer.weights.type.sizes;
    const auto kernels = static_cast<std::size_t>(layer.is_conv ? sizes.front() : sizes.back());
    const auto& values = layer.weights.numbers;
    const std::size_t step = layer.is_conv ? values.size() / std::max<std::size_t>(kernels, 1) : 1;
    std::vector<KernelFacts> facts(kernels);
    for (std::size_t i = 0; i < values.size(); ++i) {
        KernelFacts& kernel = facts[i / step % kernels];
        kernel.sum += values[i];
        kernel.reach += std::abs(values[i]) * 255;
        kernel.granule = common_granule(kernel.granule, values[i]);
    }
    return facts;
}

std::int64_t common_granule(std::int64_t granule, double weight) {
    const std::int64_t number = to_integer(std::min(std::abs(weight), 0x1p62));
    const std::int64_t own = number & -number;
    return granule == 0 || own == 0 ? std::max(granule, own) : std::min(granule, own);
}

double share_of_halves(double bias, std::int64_t granule, int shift) {
    if (shift < 1 || bias != std::trunc(bias)) {
        return 0;
    }
    const std::int64_t unit = std::int64_t{1} << shift;
    const std::int64_t steps = granule == 0 ? unit : std::min(granule, unit);
    return (to_integer(bias) - unit / 2) % steps == 0
               ? 0.5 * static_cast<double>(steps) / static_cast<double>(unit)
               : 0;
}

namespace {

/// Whether the rounded quotient, used for the second multiplication, begins every result at the
/// same step as the exact one.
bool begins_results(const EvenDivision& division) {
    constexpr std::int64_t most_results = 512;  // beyond which every result is clipped
    const std::int64_t half = std::int64_t{1} << (division.second_shift - 1);
    for (std::int64_t k = 0; k < most_results; ++k) {
        const std::int64_t step = ((2 * k + 1) * half + division.second - 1) / division.second;
        if (step != ((2 * k + 1) * division.first + 3) / 4) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::optional<EvenDivision> even_division(int shift, double most_scale) {
    constexpr std::int64_t tried = 64;
    const auto half = static_cast<std::int64_t>(std::ldexp(0.5, shift));
    const std::int64_t least = std::max<std::int64_t>(5, half / 4 * 4 + 1);
    for (std::int64_t first = least; first < least + 4 * tried; first += 4) {
        const auto steps = static_cast<double>(first);
        if (steps * most_scale > largest_scale) {
            return std::nullopt;
        }
        const int second_shift = shift_before(2 / steps);
        const auto second = to_integer(std::nearbyint(std::ldexp(2 / steps, second_shift)));
        const EvenDivision division{first, second, second_shift};
        if (begins_results(division)) {
            return division;
        }
    }
    return std::nullopt;
}

LayerSequence exact_sequence(const QuantisedLayer& layer) {
    LayerSequence exact;
    exact.reason = layer.obstacle;
    if (!exact.reason.empty() || layer.is_pool) {
        return exact;
    }
    if (!layer.exact_factors) {
        exact.reason = "its scales are not all powers of two";
        return exact;
    }
    if (layer.input_zero != 0 && layer.is_conv && has_padding(layer.anchor)) {
        exact.reason = "its input has a zero point, so padding cannot be folded into the bias";
        return exact;
    }
    const std::vector<KernelFacts> kernels = kernel_facts(layer);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const double factor = of_kernel(layer.factors, k, 1);
        const int shift = is_power_of_two(factor) ? -std::ilogb(factor) : -1;
        if (shift < 0 || shift > 31) {
            exact.reason = fmt::format(
                "input scale x weight scale / output scale is {}, which is not a right shift",
                factor);
            return exact;
        }
        const double bias = of_kernel(layer.bias, k, 0) - layer.input_zero * kernels[k].sum;
        if (!(std::abs(bias) < 0x1p52)) {
            exact.reason = "its bias exceeds the range of sums";
            return exact;
        }
        if (bias != std::trunc(bias)) {
            exact.reason = "its bias is not a multiple of input scale x weight scale";
            return exact;
        }
        if (share_of_halves(bias, kernels[k].granule, shift) > 0) {
            exact.reason = "it rounds halves to even, and sums of kernel " + std::to_string(k) +
                           " can lie halfway";
            return exact;
        }
        const double unit = std::ldexp(1.0, shift);
        exact.divisor.push_back(unit);
        exact.bias.push_back(bias + (shift > 0 ? unit / 2 : 0) + layer.output_zero * unit);
    }
    return exact;
}

namespace {

constexpr int largest_shift = 20;  // for divisions by two 15-bit multipliers

/// The right shift of a kernel; nothing if its factor is not a negative power of two.
std::optional<int> shift_of(double factor) {
    const int shift = is_power_of_two(factor) ? -std::ilogb(factor) : -1;
    return shift < 0 ? std::nullopt : std::optional(shift);
}

/// Whether the zero stored with results is even, or the second stage is free to double them, which
/// is the case if all biases of stored inputs have 16 bits.
bool has_even_zero(const QuantisedLayer& layer, std::optional<double> input_high) {
    if (std::remainder(layer.output_zero - (layer.high - 127), 2) == 0) {
        return true;
    }
    if (!input_high) {
        return false;
    }
    const std::vector<KernelFacts> kernels = kernel_facts(layer);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const double moved = (*input_high - 127 - layer.input_zero) * kernels[k].sum;
        if (std::abs(of_kernel(layer.bias, k, 0) + moved) > largest_scale) {
            return false;
        }
    }
    return true;
}

}  // namespace

LayerSequence even_sequence(const QuantisedLayer& layer, std::optional<double> input_high) {
    LayerSequence even{.to_even = true};
    even.input_zero = layer.input_zero;
    const bool clips_itself = layer.high - layer.low == 255 || layer.low == layer.output_zero;
    const bool moves = std::remainder(layer.output_zero, 2) != 0;
    if (!layer.obstacle.empty() || layer.is_pool || !layer.exact_factors || !clips_itself ||
        moves || !has_even_zero(layer, input_high)) {
        even.reason = "its scales are not powers of two";
        return even;
    }
    const std::size_t kernels = kernel_facts(layer).size();
    int most = 0;
    int least = largest_shift;
    for (std::size_t k = 0; k < kernels; ++k) {
        const auto shift = shift_of(of_kernel(layer.factors, k, 1));
        const double bias = of_kernel(layer.bias, k, 0);
        if (!shift || *shift > largest_shift || bias != std::trunc(bias) ||
            std::abs(bias) > largest_bias) {
            even.reason = "a kernel has no shift, or a bias that is not an integer";
            return even;
        }
        most = std::max(most, *shift);
        least = std::min(least, *shift);
        even.bias.push_back(bias);
    }
    if (most < 1 || !even_division(most, std::ldexp(1.0, most - least))) {
        even.reason = "its shifts differ too much";
        return even;
    }
    for (std::size_t k = 0; k < kernels; ++k) {
        even.scale.push_back(std::ldexp(of_kernel(layer.factors, k, 1), most));
    }
    even.divisor = {std::ldexp(1.0, most)};
    even.offset = std::ldexp(layer.output_zero, most);
    return even;
}

namespace {

// Arbitrary scales as integers and one shift for all kernels. Hardware multiplies with 15 bits; if
// its next stage is otherwise unused it does so twice, first without a shift, so that a scale is a
// product of two such numbers and nothing is lost between them. Of the products near a scale, one
// is chosen for which every result begins at the same sum as in a runtime. If there is none, the
// nearest one is chosen for which no sum lies halfway between two results, so that it does not
// matter how hardware rounds ties: if a scale's odd part is small, such sums would have to be
// multiples of a power of two that no sum reaches.

constexpr int most_shift = 40;                 // hardware products have 48 bits
constexpr std::int64_t beyond_results = 1024;  // twice the number of steps in any result's range
constexpr double tried_multipliers = 32767;
constexpr double most_stored_bias = 0x1p31;  // the lowest one of int32
constexpr int constant_shift = 35;  // if kernels have no weights; their biases then have 15 bits
constexpr int constant_bits = 7;    // fraction bits of a step in such a bias

/// Whether (sum + bias) * scale can lie halfway between multiples of 2^shift near results, for sums
/// and biases up to `reach`.
bool can_lie_halfway(std::int64_t scale, int shift, double reach) {
    const std::int64_t power = scale & -scale;
    return scale != 0 && shift > 0 && scale / power < beyond_results &&
           reach >= std::ldexp(1.0, shift - 1) / static_cast<double>(power);
}

/// A kernel's exact and rounded scale.
struct RoundedKernel {
    double factor = 0;
    double rounded = 0;
    double bias = 0;
    bool same_results = false;  ///< as a runtime's, whose factor is also rounded
    double halves = 0;          ///< share of results that differ because no sum lies halfway
};

/// The share of halves if the exact scale is a power of two; other scales have hardly any.
double halves_of(double factor, double bias, std::int64_t granule) {
    const int shift = is_power_of_two(factor) ? -std::ilogb(factor) : 0;
    return shift <= most_shift ? share_of_halves(bias, granule, shift) : 0;
}

/// A result is off by its own magnitude times the scale's error.
void note_deviation(const QuantisedLayer& layer, const RoundedKernel& kernel, double kernels,
                    Deviation& all) {
    const double below = layer.output_zero - layer.low;
    const double above = layer.high - layer.output_zero;
    const double error = kernel.factor > 0 ? std::abs(kernel.rounded / kernel.factor - 1) : 0;
    const double bias = std::abs(std::nearbyint(kernel.bias) - kernel.bias) * kernel.factor;
    const double mean = (below * below + above * above) / (2 * std::max(below + above, 1.0));
    all.largest = std::max(all.largest, std::max(below, above) * error + bias);
    const double scaled = std::max(mean * error, kernel.halves);
    all.expected += ((kernel.same_results ? 0 : scaled) + bias) / kernels;
}

/// The scales of one layer's kernels as products of two multipliers.
class ScaleProducts {
 public:
    ScaleProducts(const QuantisedLayer& layer, const std::vector<KernelFacts>& kernels)
        : layer_(layer), kernels_(kernels) {
        const bool all_codes = layer.high - layer.low == 255;
        multiplies_twice_ = all_codes || layer.low == layer.output_zero;
        set_bias_shift();
        set_shift();
    }

    int shift() const { return shift_; }
    double unit() const { return std::ldexp(1.0, shift_); }
    double factor(std::size_t k) const { return of_kernel(layer_.factors, k, 1); }
    double bias(std::size_t k) const { return of_kernel(layer_.bias, k, 0); }

    /// Nothing if there is no such product.
    struct Product {
        double scale = 0;
        bool same_results = false;  ///< as a runtime's
    };
    std::optional<Product> product_of(std::size_t k) const {
        const double reach = kernels_[k].reach + std::abs(bias(k));
        const ScaleBounds bounds =
            factor(k) > 0 ? scale_bounds(factor(k), {layer_.low - layer_.output_zero,
                                                     layer_.high - layer_.output_zero, reach})
                          : ScaleBounds{};
        const double wanted = (std::isfinite(bounds.below) ? bounds.middle() : factor(k)) * unit();
        const double least = std::max(1.0, std::ceil(wanted / largest_scale));
        const double most = std::max(most_first(k), least);
        const auto tried = static_cast<int>(std::min(most - least, tried_multipliers));
        std::optional<double> best;
        for (int i = 0; i <= tried; ++i) {
            const double first = least + i;
            const double second = std::nearbyint(wanted / first);
            for (const double number : {second, second + 1, second - 1}) {
                const double scale = first * number;
                if (number < 0 || number > largest_scale) {
                    continue;
                }
                if (factor(k) > 0 && bounds.hold(scale / unit())) {
                    return Product{scale, bounds.keep_all};
                }
                if (number > 0 && (!best || std::abs(scale - wanted) < std::abs(*best - wanted)) &&
                    !can_lie_halfway(static_cast<std::int64_t>(scale), shift_, reach)) {
                    best = scale;
                }
            }
        }
        return best ? std::optional(Product{*best, false}) : std::nullopt;
    }

    /// For a kernel without weights, whose result is constant: its scale and its bias.
    struct Constant {
        double scale = 0;
        double bias = 0;
    };
    Constant constant_of(std::size_t k) const {
        const double most = most_result();
        const double result = std::clamp(std::nearbyint(bias(k) * factor(k)), -most, most);
        const int step = std::min(shift_, std::max(constant_bits, bias_shift_));
        const int scale = multiplies_twice_ ? shift_ - step : std::min(shift_, 14);
        return {std::ldexp(1.0, scale), std::ldexp(result, shift_ - scale)};
    }

 private:
    /// Every result beyond it is clipped.
    double most_result() const {
        return std::max(layer_.high - layer_.output_zero, layer_.output_zero - layer_.low) + 2;
    }

    /// Biases of stored inputs have 16 bits and a shift; the 16-bit remainder is multiplied.
    void set_bias_shift() {
        constexpr double most_zero =
            160;  // between an input's zero point and the one that is stored
        double largest = 0;
        for (std::size_t k = 0; k < kernels_.size(); ++k) {
            const bool constant = kernels_[k].granule == 0;
            has_constants_ = has_constants_ || constant;
            largest = std::max(
                largest, constant ? 0 : std::abs(bias(k)) + most_zero * std::abs(kernels_[k].sum));
        }
        bias_shift_ = largest <= largest_scale ? 0 : std::ilogb(largest / largest_scale) + 1;
    }

    /// The largest first multiplier for which no sum exceeds 32 bits, except sums that saturate
    /// beyond every result, and no bias remainder exceeds 16 bits.
    double most_first(std::size_t k) const {
        if (!multiplies_twice_) {
            return 1;
        }
        constexpr double least_room = 65536;  // for what the second stage adds
        const KernelFacts& facts = kernels_[k];
        const double sums =
            (largest_bias - least_room) / (2 * facts.reach + std::abs(bias(k)) + least_room);
        const double saturated = factor(k) * (largest_bias - least_room) / most_result();
        const double lacking = bias_shift_ == 0 ? 1 : std::ldexp(1.0, bias_shift_ - 1);
        return std::max(1.0, std::min(std::floor(std::max(sums, saturated)),
                                      std::floor(largest_scale / lacking)));
    }

    /// As many bits as every kernel's two multipliers provide, with half of their products as
    /// choice.
    void set_shift() {
        double most = std::ldexp(1.0, most_shift);
        for (std::size_t k = 0; k < kernels_.size(); ++k) {
            if (kernels_[k].granule != 0 && factor(k) > 0) {
                const double products = largest_scale * most_first(k) / (multiplies_twice_ ? 2 : 1);
                most = std::min(most, products / factor(k));
            }
        }
        shift_ = std::clamp(std::ilogb(most), 1, most_shift);
        if (has_constants_) {
            shift_ = std::min(shift_, multiplies_twice_ ? constant_shift : shift_);
        }
    }

    const QuantisedLayer& layer_;
    const std::vector<KernelFacts>& kernels_;
    bool multiplies_twice_ = false;
    bool has_constants_ = false;
    int bias_shift_ = 0;
    int shift_ = 1;
};

LayerSequence round_scales(const QuantisedLayer& layer) {
    LayerSequence rounded{.deviation = Deviation{}};
    rounded.reason = layer.obstacle;
    if (!rounded.reason.empty() || layer.is_pool) {
        rounded.deviation.reset();
        return rounded;
    }
    const std::vector<KernelFacts> kernels = kernel_facts(layer);
    double largest = 0;
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        largest =
            kernels[k].granule == 0 ? largest : std::max(largest, of_kernel(layer.factors, k, 1));
    }
    if (!(largest <= largest_scale) || !std::isfinite(largest)) {
        rounded.reason = fmt::format("its results are its sums scaled by {}", largest);
        return rounded;
    }
    const ScaleProducts scales(layer, kernels);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const double factor = scales.factor(k);
        const double bias = scales.bias(k);
        const bool constant_result = kernels[k].granule == 0;  // only the bias
        const bool possible = factor >= 0 && std::isfinite(factor) &&
                              std::abs(bias) <= (constant_result ? most_stored_bias : largest_bias);
        if (possible && constant_result) {
            const auto constant = scales.constant_of(k);
            rounded.scale.push_back(constant.scale);
            rounded.bias.push_back(constant.bias);
            continue;
        }
        const auto product = possible ? scales.product_of(k) : std::nullopt;
        if (!product) {
            rounded.reason = fmt::format(
                "kernel {} has a scale of {} and a bias of {}, which the NPU cannot "
                "represent",
                k, factor, bias);
            return rounded;
        }
        rounded.scale.push_back(product->scale);
        rounded.bias.push_back(std::nearbyint(bias));
        note_deviation(layer,
                       {factor, product->scale / scales.unit(), bias, product->same_results,
                        halves_of(factor, bias, kernels[k].granule)},
                       static_cast<double>(kernels.size()), *rounded.deviation);
    }
    rounded.divisor = {scales.unit()};
    rounded.offset = scales.unit() / 2 + layer.output_zero * scales.unit();
    rounded.input_zero = layer.input_zero;
    return rounded;
}

/// A kernel whose bias is far beyond its sums, as one that training has left without use, needs a
/// scale that is too small beside the others'. In coarser steps of its weights and of its bias the
/// scale is larger. Returns how far each result can be off for that, in steps; nothing if no kernel
/// is like this.
std::optional<std::vector<double>> coarsen_kernels(QuantisedLayer& layer) {
    constexpr double most_bias = 0x1p22;  // as large as the sums of some hundred weights
    constexpr double codes = 255;
    const std::vector<KernelFacts> kernels = kernel_facts(layer);
    std::vector<double> units(kernels.size(), 1);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const double bias = std::abs(of_kernel(layer.bias, k, 0));
        if (kernels[k].granule != 0 && bias > most_bias && bias <= most_stored_bias) {
            units[k] = std::ldexp(1.0, std::ilogb(bias / most_bias) + 1);
        }
    }
    if (std::ranges::all_of(units, [](double unit) { return unit == 1; })) {
        return std::nullopt;
    }
    layer.bias.resize(kernels.size(), layer.bias.front());
    layer.factors.resize(kernels.size(), of_kernel(layer.factors, 0, 1));
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        layer.bias[k] = units[k] == 1 ? layer.bias[k] : std::nearbyint(layer.bias[k] / units[k]);
        layer.factors[k] *= units[k];
    }
    std::vector<double> errors(kernels.size(), 0);
    std::vector<double>& weights = layer.weights.numbers;
    const std::size_t step = layer.is_conv ? weights.size() / kernels.size() : 1;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const std::size_t k = i / step % kernels.size();
        const double coarse = std::nearbyint(weights[i] / units[k]);
        errors[k] += std::abs(weights[i] / units[k] - coarse) * codes * layer.factors[k];
        weights[i] = coarse;
    }
    return errors;
}

}  // namespace

LayerSequence rounded_sequence(QuantisedLayer& layer) {
    LayerSequence rounded = round_scales(layer);
    if (rounded.reason.empty() && (!rounded.deviation || rounded.deviation->steps() <= 1)) {
        return rounded;
    }
    QuantisedLayer coarse = layer;
    const auto errors = layer.obstacle.empty() ? coarsen_kernels(coarse) : std::nullopt;
    if (!errors) {
        return rounded;
    }
    LayerSequence other = round_scales(coarse);
    if (!other.reason.empty() || !other.deviation) {
        return rounded;
    }
    for (const double error : *errors) {
        other.deviation->largest = std::max(other.deviation->largest, error);
        other.deviation->expected += std::min(error, 1.0) / static_cast<double>(errors->size());
    }
    if (!rounded.reason.empty() || other.deviation->largest < rounded.deviation->largest) {
        layer = std::move(coarse);
        return other;
    }
    return rounded;
}

}  // namespace npuscope
