// SPDX-License-Identifier: Apache-2.0
#include "sim/lowering/number_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace npuscope {
namespace {

constexpr std::int64_t largest_bias = 32767;

}  // namespace

std::optional<LoweringProblem> bias_problem(const LayerNumbers& numbers, std::size_t node) {
    std::int64_t every = 0;
    std::int64_t largest = 0;
    for (const std::int64_t bias : numbers.bias) {
        every |= bias;
        largest = std::max(largest, std::abs(bias));
    }
    const std::int64_t granule = every & -every;
    if (every == 0 || largest / granule <= largest_bias) {
        return std::nullopt;
    }
    std::int64_t unit = 1;
    while (largest / unit > largest_bias) {
        unit *= 2;
    }
    return LoweringProblem{
        node, fmt::format("its biases reach {} and are no multiples of {}", largest, unit),
        fmt::format("biases have 16 bits, shifted left together: round them to multiples of {}",
                    unit)};
}

std::optional<LoweringProblem> sum_problem(const LayerNumbers& numbers, const SumInputs& inputs,
                                           std::size_t node) {
    const NumberRange& range = inputs.range;
    const std::size_t inner = numbers.weights.size() / numbers.bias.size();
    const double residual =
        inputs.residual ? std::ldexp(128.0, static_cast<int>(numbers.shift) + 1) : 0;
    for (std::size_t k = 0; k < numbers.bias.size(); ++k) {
        double low = numbers.bias[k];
        double high = numbers.bias[k];
        for (std::size_t i = k * inner; i < (k + 1) * inner; ++i) {
            const double weight = numbers.weights[i];
            low += std::min({weight * range.low, weight * range.high, 0.0});
            high += std::max({weight * range.low, weight * range.high, 0.0});
        }
        const double reached = std::max(-low, high) * 2 * std::max(numbers.scale[k], 1) + residual;
        if (reached > largest_sum) {
            return LoweringProblem{
                node, fmt::format("scaled sums of kernel {} may reach {:.0f}", k, reached),
                "they must stay within 32 bits: take a smaller scale and shift"};
        }
    }
    return std::nullopt;
}

}  // namespace npuscope
