// SPDX-License-Identifier: Apache-2.0
#include "sim/model/layer_sequence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace npuscope {

std::vector<KernelFacts> kernel_facts(const QuantisedLayer& layer) {
    const Sizes& sizes = layer.weights.type.sizes;
    const auto kernels = static_cast<std::size_t>(layer.is_conv ? sizes.front() : sizes.back());
    const auto& values = layer.weights.numbers;
    const std::size_t step = layer.is_conv ? values.size() / std::max<std::size_t>(kernels, 1) : 1;
    std::vector<KernelFacts> facts(kernels);
    for (std::size_t i = 0; i < values.size(); ++i) {
        KernelFacts& kernel = facts[i / step % kernels];
        const std::int64_t weight = to_integer(std::min(std::abs(values[i]), 0x1p62));
        kernel.sum += values[i];
        kernel.reach += std::abs(values[i]) * 255;
        const std::int64_t granule = weight & -weight;
        if (granule != 0) {
            kernel.granule = kernel.granule == 0 ? granule : std::min(kernel.granule, granule);
        }
    }
    return facts;
}

namespace {

/// A sum is a multiple of `granule` plus `bias`. Whether it can lie halfway between two results.
bool can_tie(double bias, std::int64_t granule, int shift) {
    const std::int64_t unit = std::int64_t{1} << shift;
    const std::int64_t steps = granule == 0 ? unit : std::min(granule, unit);
    const std::int64_t rest = to_integer(bias) - unit / 2;
    return (rest % steps + steps) % steps == 0;
}

}  // namespace

namespace {

/// Whether the rounded quotient, with which the second multiplication is made, begins every result at the
/// step at which the true one does.
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
        exact.reason = "its input has a zero point, and padding is not a constant of the bias";
        return exact;
    }
    const std::vector<KernelFacts> kernels = kernel_facts(layer);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const double factor = of_kernel(layer.factors, k, 1);
        const int shift = is_power_of_two(factor) ? -std::ilogb(factor) : -1;
        if (shift < 0 || shift > 31) {
            exact.reason = fmt::format(
                "input scale x weight scale / output scale is {}, no right shift", factor);
            return exact;
        }
        const double bias = of_kernel(layer.bias, k, 0) - layer.input_zero * kernels[k].sum;
        if (!(std::abs(bias) < 0x1p52)) {
            exact.reason = "its bias is beyond every sum";
            return exact;
        }
        if (bias != std::trunc(bias)) {
            exact.reason = "its bias is not a multiple of input scale x weight scale";
            return exact;
        }
        if (shift > 0 && can_tie(bias, kernels[k].granule, shift)) {
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

constexpr int largest_shift = 20;  // of divisions by two multipliers of 15 bits

/// The right shift of a kernel; nothing where its factor is none.
std::optional<int> shift_of(double factor) {
    const int shift = is_power_of_two(factor) ? -std::ilogb(factor) : -1;
    return shift < 0 ? std::nullopt : std::optional(shift);
}

/// Whether the zero that is stored with results is even, or the second stage is free to double them, as it
/// is where all biases of stored inputs have 16 bits.
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
        even.reason = "it is none of powers of two";
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
            even.reason = "a kernel has no shift, or a bias that is no integer";
            return even;
        }
        most = std::max(most, *shift);
        least = std::min(least, *shift);
        even.bias.push_back(bias);
    }
    if (most < 1 || !even_division(most, std::ldexp(1.0, most - least))) {
        even.reason = "its shifts lie too far apart";
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

// Scales of any kind as integers and one shift for all kernels. Hardware multiplies with 15 bits; where
// its next stage has no other work it does so twice, first without a shift, so that a scale is a
// product of two such numbers and nothing is lost between them. A sum never lies halfway between two
// results, so that it does not matter how hardware rounds halves: where a scale's odd part is small,
// such sums would have to be multiples of a power of two that no sum reaches, or the scale is made odd.

constexpr int most_shift = 43;                 // numbers and results of doubles are then exact
constexpr std::int64_t beyond_results = 1024;  // twice the steps between the ends of any result
constexpr double most_first = 1023;            // more bits than sums of doubles leave exact
constexpr double most_result = 512;            // beyond which every result is clipped

/// Whether (sum + bias) * scale can lie halfway between multiples of 2^shift near results, for sums
/// and biases up to `reach`.
bool can_lie_halfway(std::int64_t scale, int shift, double reach) {
    const std::int64_t power = scale & -scale;
    return scale != 0 && shift > 0 && scale / power < beyond_results &&
           reach >= std::ldexp(1.0, shift - 1) / static_cast<double>(power);
}

/// A kernel's scale as it is and as it was rounded.
struct RoundedKernel {
    double factor = 0;
    double rounded = 0;
    double bias = 0;
};

/// A result is off by its own size times the scale's error.
void note_deviation(const QuantisedLayer& layer, const RoundedKernel& kernel, double kernels,
                    Deviation& all) {
    const double below = layer.output_zero - layer.low;
    const double above = layer.high - layer.output_zero;
    const double error = kernel.factor > 0 ? std::abs(kernel.rounded / kernel.factor - 1) : 0;
    const double bias = std::abs(std::nearbyint(kernel.bias) - kernel.bias) * kernel.factor;
    const double mean = (below * below + above * above) / (2 * std::max(below + above, 1.0));
    all.largest = std::max(all.largest, std::max(below, above) * error + bias);
    all.expected += (mean * error + bias) / kernels;
}

/// The largest first multiplier with which no sum leaves 32 bits, nor what a bias of 16 bits lacks its
/// 16 bits; 1 where the second stage is needed for a lower limit.
double most_multiplier(const QuantisedLayer& layer, const std::vector<KernelFacts>& kernels,
                       double largest) {
    const bool clips_itself = layer.high - layer.low == 255 || layer.low == layer.output_zero;
    double reach = 4 * most_result / std::max(largest, 0x1p-20);  // of kernels without weights
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        reach = std::max(reach, kernels[k].reach + std::abs(of_kernel(layer.bias, k, 0)));
    }
    const double lacking = std::ceil(2 * reach / largest_scale);  // of a bias, at most
    const double sums = std::floor(largest_bias / (2 * reach + 65536));
    return clips_itself
               ? std::max(1.0, std::min({most_first, sums, std::floor(largest_scale / lacking)}))
               : 1;
}

/// The product of two multipliers that is nearest to `wanted`, of those that no sum makes lie halfway;
/// nothing where there is none.
std::optional<double> nearest_scale(double wanted, double most, int shift, double reach) {
    std::optional<double> best;
    const double least = std::max(1.0, std::ceil(wanted / largest_scale));
    for (double first = least; first <= std::max(most, least); ++first) {
        const double second = std::nearbyint(wanted / first);
        for (const double number : {second, second + 1, second - 1}) {
            const double scale = first * number;
            const bool good = number >= 0 && number <= largest_scale &&
                              !can_lie_halfway(static_cast<std::int64_t>(scale), shift, reach);
            if (good && (!best || std::abs(scale - wanted) < std::abs(*best - wanted))) {
                best = scale;
            }
        }
    }
    return best;
}

}  // namespace

LayerSequence rounded_sequence(const QuantisedLayer& layer) {
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
        rounded.reason = fmt::format("its results are sums times {}", largest);
        return rounded;
    }
    const double most = most_multiplier(layer, kernels, largest);
    const int shift = largest > 0 ? std::clamp(shift_before(largest / most), 1, most_shift) : 14;
    const double unit = std::ldexp(1.0, shift);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const double factor = of_kernel(layer.factors, k, 1);
        const double bias = of_kernel(layer.bias, k, 0);
        const bool possible =
            factor >= 0 && std::isfinite(factor) && std::abs(bias) <= largest_bias;
        if (possible && kernels[k].granule == 0) {  // the bias alone
            const int part = std::min(shift, 14 + std::ilogb(most));
            const double result =
                std::clamp(std::nearbyint(bias * factor), -most_result, most_result);
            rounded.scale.push_back(std::ldexp(1.0, part));
            rounded.bias.push_back(std::ldexp(result, shift - part));
            continue;
        }
        const auto scale =
            possible ? nearest_scale(factor * unit, most, shift, kernels[k].reach + std::abs(bias))
                     : std::nullopt;
        if (!scale) {
            rounded.reason =
                fmt::format("kernel {} has a scale of {} and a bias of {}", k, factor, bias);
            return rounded;
        }
        rounded.scale.push_back(*scale);
        rounded.bias.push_back(std::nearbyint(bias));
        note_deviation(layer, {factor, *scale / unit, bias}, static_cast<double>(kernels.size()),
                       *rounded.deviation);
    }
    rounded.divisor = {unit};
    rounded.offset = unit / 2 + layer.output_zero * unit;
    rounded.input_zero = layer.input_zero;
    return rounded;
}

}  // namespace npuscope
