// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "sim/model/layer_sequence.h"

namespace npuscope {
namespace {

constexpr double largest_weight = 127;
constexpr double least_weight = -128;
constexpr int most_shift = 31;  // source: TI NNC User's Guide v2.1.0, 5-bit shift

/// The weights of kernel `k`, wherever they lie.
class KernelWeights {
 public:
    KernelWeights(QuantisedLayer& layer, std::size_t kernels, std::size_t k)
        : numbers_(layer.weights.numbers),
          step_(layer.is_conv ? 1 : kernels),
          first_(layer.is_conv ? numbers_.size() / kernels * k : k),
          count_(numbers_.size() / kernels) {}

    std::size_t size() const { return count_; }
    double& operator[](std::size_t i) { return numbers_[first_ + i * step_]; }

 private:
    std::span<double> numbers_;
    std::size_t step_;
    std::size_t first_;
    std::size_t count_;
};

/// What rounding made of a kernel's weights.
struct FoldedKernel {
    double sum = 0;     ///< of its weights
    double error = 0;   ///< of all together, in units of the weights
    double spread = 0;  ///< squares of the single errors, added up
    double reach = 0;   ///< their absolute values, added up
};

/// Rounds every weight times `gain`, then moves those that are nearest to the next number until the
/// errors sum to half a unit at most: inputs that are not 0 on average are scaled right.
FoldedKernel fold(KernelWeights weights, double gain) {
    std::vector<double> errors(weights.size());
    FoldedKernel folded;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double wanted = weights[i] * gain;
        weights[i] = std::clamp(std::nearbyint(wanted), least_weight, largest_weight);
        errors[i] = weights[i] - wanted;
        folded.error += errors[i];
    }
    for (std::size_t moved = 0; std::abs(folded.error) > 0.5 && moved < weights.size(); ++moved) {
        const double sign = folded.error > 0 ? 1 : -1;
        const auto farthest =
            std::ranges::max_element(errors, {}, [sign](double one) { return one * sign; });
        const auto i = static_cast<std::size_t>(farthest - errors.begin());
        const double next = weights[i] - sign;
        if (errors[i] * sign <= 0 || next < least_weight || next > largest_weight) {
            break;
        }
        weights[i] = next;
        errors[i] -= sign;
        folded.error -= sign;
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
        folded.sum += weights[i];
        folded.spread += errors[i] * errors[i];
        folded.reach += std::abs(errors[i]);
    }
    return folded;
}

// Inputs are taken to be spread normally around the zero point, with an eighth of their codes as the
// standard deviation: a quantiser's range is that of all that it was shown. Beyond five deviations of
// what errors make of them lie fewer than one in a million results.
constexpr double input_spread = 32;
constexpr double most_deviations = 5;

/// Results are off by what the errors make of the input.
void note_deviation(const FoldedKernel& kernel, double unit, double kernels, Deviation& all) {
    const double bias = 0.5;  // rounded
    const double spread = std::sqrt(kernel.spread) * input_spread / unit;
    const double any_input = (kernel.reach * 255 + bias) / unit;
    all.largest =
        std::max(all.largest, std::min(most_deviations * spread + bias / unit, any_input));
    all.expected +=
        std::min(1.0, bias / 2 / unit + spread * std::sqrt(2 / std::numbers::pi)) / kernels;
}

}  // namespace

LayerSequence folded_sequence(QuantisedLayer& layer) {
    LayerSequence folded{.deviation = Deviation{.folded = true}};
    folded.reason = layer.obstacle;
    if (!folded.reason.empty() || layer.is_pool) {
        folded.deviation.reset();
        return folded;
    }
    const Sizes& sizes = layer.weights.type.sizes;
    const auto kernels = static_cast<std::size_t>(layer.is_conv ? sizes.front() : sizes.back());
    for (std::size_t k = 0; k < kernels; ++k) {
        KernelWeights weights(layer, kernels, k);
        const double factor = of_kernel(layer.factors, k, 1);
        const double bias = of_kernel(layer.bias, k, 0);
        double largest = 0;
        double sum = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            largest = std::max(largest, std::abs(weights[i]));
            sum += weights[i];
        }
        int shift = most_shift;
        const double real = largest * factor;
        if (real > 0) {
            shift = std::min(shift, static_cast<int>(std::floor(std::log2(127.49 / real))));
        }
        const double reach =
            std::abs((bias - layer.input_zero * sum) * factor + layer.output_zero) + 2;
        shift = std::min(shift, static_cast<int>(std::floor(std::log2(largest_norm_bias / reach))));
        if (!(shift >= 0 && factor >= 0 && std::isfinite(real) && std::isfinite(reach))) {
            folded.reason =
                fmt::format("kernel {} has a scale of {} and a bias of {}", k, factor, bias);
            return folded;
        }
        const double unit = std::ldexp(1.0, shift);
        const FoldedKernel kernel = fold(weights, factor * unit);
        folded.bias.push_back(std::nearbyint(bias * factor * unit) - layer.input_zero * kernel.sum +
                              (shift > 0 ? unit / 2 : 0) + layer.output_zero * unit);
        folded.divisor.push_back(unit);
        note_deviation(kernel, unit, static_cast<double>(kernels), *folded.deviation);
    }
    return folded;
}

}  // namespace npuscope
