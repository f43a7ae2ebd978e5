// SPDX-License-Identifier: Apache-2.0
#include "sim/quantise/grid.h"

#include <algorithm>
#include <cmath>

#include "sim/model/quantised_form.h"

namespace npuscope {
namespace {

constexpr double least_scale = 1e-12;  // for a tensor of zeros

}  // namespace

Grid grid_of(const NumberRange& range, ElementType type) {
    const NumberRange all = range_of(type);
    const double low = std::min(range.low, 0.0);
    const double high = std::max(range.high, 0.0);
    if (type == ElementType::Int16) {
        return {
            std::max(rounded_float(std::max(-low, high) / all.high), rounded_float(least_scale)),
            0};
    }
    const double scale =
        std::max(rounded_float((high - low) / (all.high - all.low)), rounded_float(least_scale));
    const double zero = std::nearbyint(all.low - low / scale);
    return {scale, std::clamp(zero, all.low, all.high)};
}

double on_grid(const Grid& grid, double real, ElementType type) {
    const NumberRange all = range_of(type);
    const double integer =
        std::clamp(std::nearbyint(real / grid.scale) + grid.zero, all.low, all.high);
    return (integer - grid.zero) * grid.scale;
}

QuantisedWeights quantise_weights(const GraphValue& weights, int axis,
                                  const std::vector<double>& least, ElementType type) {
    const double largest_weight = range_of(type).high;  // symmetric
    const Sizes& sizes = weights.type.sizes;
    std::size_t kernels = 1;
    std::size_t step = 1;
    if (axis >= 0) {
        kernels = static_cast<std::size_t>(sizes[static_cast<std::size_t>(axis)]);
        for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < sizes.size(); ++i) {
            step *= static_cast<std::size_t>(sizes[i]);
        }
    }
    QuantisedWeights result{{{type, sizes}, weights.numbers},
                            std::vector<double>(kernels, least_scale * largest_weight)};
    if (kernels == 0 || step == 0) {
        return result;  // there are no weights
    }
    const auto kernel_of = [&](std::size_t i) { return i / step % kernels; };
    for (std::size_t i = 0; i < weights.numbers.size(); ++i) {
        double& reach = result.scales[kernel_of(i)];
        reach = std::max(reach, std::abs(weights.numbers[i]));
    }
    for (std::size_t k = 0; k < kernels; ++k) {
        const double own = result.scales[k] / largest_weight;
        result.scales[k] = rounded_float(least.empty() ? own : std::max(own, least[k]));
    }
    for (std::size_t i = 0; i < weights.numbers.size(); ++i) {
        result.integers.numbers[i] =
            std::clamp(std::nearbyint(weights.numbers[i] / result.scales[kernel_of(i)]),
                       -largest_weight, largest_weight);
    }
    return result;
}

}  // namespace npuscope
