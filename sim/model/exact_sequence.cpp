// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/model/quantised_layer.h"

namespace npuscope {
namespace {

/// Kernel by kernel: the weights' sum and the largest power of two that divides all of them.
struct KernelFacts {
    double sum = 0;
    std::int64_t granule = 0;  ///< 0: all weights are 0
};
std::vector<KernelFacts> kernel_facts(const QuantisedLayer& layer) {
    const Sizes& sizes = layer.weights.type.sizes;
    const auto kernels = static_cast<std::size_t>(layer.is_conv ? sizes.front() : sizes.back());
    const auto& values = layer.weights.numbers;
    const std::size_t step = layer.is_conv ? values.size() / std::max<std::size_t>(kernels, 1) : 1;
    std::vector<KernelFacts> facts(kernels);
    for (std::size_t i = 0; i < values.size(); ++i) {
        KernelFacts& kernel = facts[i / step % kernels];
        const std::int64_t weight = std::abs(to_integer(values[i]));
        kernel.sum += values[i];
        const std::int64_t granule = weight & -weight;
        if (granule != 0) {
            kernel.granule = kernel.granule == 0 ? granule : std::min(kernel.granule, granule);
        }
    }
    return facts;
}

bool has_padding(const QuantisedLayer& layer) {
    const auto pads = layer.anchor.integers("pads");
    return layer.anchor.text("auto_pad", "NOTSET").starts_with("SAME") ||
           std::any_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad != 0; });
}

/// A sum is a multiple of `granule` plus `bias`. Whether it can lie halfway between two results.
bool can_tie(double bias, std::int64_t granule, int shift) {
    const std::int64_t unit = std::int64_t{1} << shift;
    const std::int64_t steps = granule == 0 ? unit : std::min(granule, unit);
    const std::int64_t rest = to_integer(bias) - unit / 2;
    return (rest % steps + steps) % steps == 0;
}

}  // namespace

bool is_power_of_two(double number) {
    int exponent = 0;
    return number > 0 && std::frexp(number, &exponent) == 0.5;
}

ExactSequence exact_sequence(const QuantisedLayer& layer) {
    ExactSequence exact;
    exact.reason = layer.obstacle;
    if (!exact.reason.empty() || layer.is_pool) {
        return exact;
    }
    const NumberRange range = range_of(layer.output_type);
    exact.low = layer.relu ? std::max(range.low, layer.output_zero) : range.low;
    exact.high = range.high;
    if (layer.input_zero != 0 && layer.is_conv && has_padding(layer)) {
        exact.reason = "its input has a zero point, and padding is not a constant of the bias";
        return exact;
    }
    const std::vector<KernelFacts> kernels = kernel_facts(layer);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
        const double factor =
            layer.factors[layer.factors.size() == 1 ? 0 : k % layer.factors.size()];
        const int shift = static_cast<int>(-std::log2(factor));
        if (!is_power_of_two(factor) || shift < 0 || shift > 31) {
            exact.reason = fmt::format(
                "input scale x weight scale / output scale is {}, no right shift", factor);
            return exact;
        }
        const double own = layer.bias.empty() ? 0 : layer.bias[layer.bias.size() == 1 ? 0 : k];
        const double bias = own - layer.input_zero * kernels[k].sum;
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

}  // namespace npuscope
