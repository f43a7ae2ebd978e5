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

/// The weights of kernel `k`, wherever they are stored.
class KernelWeights {
 public:
    KernelWeights(std::vector<double>& numbers, bool kernels_first, std::size_t kernels,
                  std::size_t k)
        : numbers_(numbers),
          step_(kernels_first ? 1 : kernels),
          first_(kernels_first ? numbers_.size() / kernels * k : k),
          count_(numbers_.size() / kernels) {}

    std::size_t size() const { return count_; }
    double& operator[](std::size_t i) { return numbers_[first_ + i * step_]; }

 private:
    std::span<double> numbers_;
    std::size_t step_;
    std::size_t first_;
    std::size_t count_;
};

/// The result of rounding a kernel's weights.
struct FoldedKernel {
    double sum = 0;       ///< of its weights
    double fine_sum = 0;  ///< of those of the fine map
    double error = 0;     ///< total, in units of the weights
    double spread = 0;    ///< sum of squared effects of a one-code deviation of the input
    double reach = 0;     ///< maximum for any input
};

// Inputs are assumed to be normally distributed around the zero point, with a standard deviation of
// an eighth of their codes: a quantiser's range covers all calibration values. Fewer than one in a
// million results have an error beyond five standard deviations.
constexpr double input_spread = 32;
constexpr double most_deviations = 5;
constexpr double any_code = 255;

// Difference between a value and eight times its rounded eighth: -4 to 4, both ends half as often.
constexpr double fine_spread = 5.5;  // their mean square
constexpr double most_fine = 4;

/// Rounds weights times `gain` to integers, or to eighths if there is a fine map, then moves the
/// closest ones to the next step until the errors sum to at most half a step: inputs with a nonzero
/// mean are scaled correctly.
class KernelFolding {
 public:
    KernelFolding(KernelWeights weights, double gain, double steps)
        : weights_(weights), steps_(steps) {
        const double beyond = std::floor((steps - 1) / 2);
        least_ = least_weight * steps - beyond;
        largest_ = largest_weight * steps + beyond;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            const double wanted = weights[i] * gain * steps;
            weights[i] = std::clamp(std::nearbyint(wanted), least_, largest_);
            errors_.push_back(weights[i] - wanted);
            error_ += errors_.back();
        }
        balance();
    }

    /// Leaves the integers in the weights and puts the remainders into those of the fine map.
    FoldedKernel split(KernelWeights fine) {
        FoldedKernel folded{.error = error_ / steps_};
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            const double whole = std::nearbyint(weights_[i] / steps_);
            const double rest = weights_[i] - whole * steps_;
            const double error = errors_[i] / steps_;
            const double part = rest / steps_;
            weights_[i] = whole;
            folded.sum += whole;
            if (steps_ > 1) {
                fine[i] = rest;
                folded.fine_sum += rest;
            }
            folded.spread +=
                error * error * input_spread * input_spread + part * part * fine_spread;
            folded.reach += std::abs(error) * any_code + std::abs(part) * most_fine;
        }
        return folded;
    }

 private:
    void balance() {
        for (std::size_t moved = 0; std::abs(error_) > 0.5 && moved < errors_.size(); ++moved) {
            const double sign = error_ > 0 ? 1 : -1;
            const auto farthest =
                std::ranges::max_element(errors_, {}, [sign](double one) { return one * sign; });
            const auto i = static_cast<std::size_t>(farthest - errors_.begin());
            const double next = weights_[i] - sign;
            if (errors_[i] * sign <= 0 || next < least_ || next > largest_) {
                break;
            }
            weights_[i] = next;
            errors_[i] -= sign;
            error_ -= sign;
        }
    }

    KernelWeights weights_;
    double steps_;
    double least_ = 0;
    double largest_ = 0;
    std::vector<double> errors_;
    double error_ = 0;
};

/// Results deviate by the effect of the weight errors on the input.
void note_deviation(const FoldedKernel& kernel, double unit, double kernels, Deviation& all) {
    const double bias = 0.5;  // rounded
    const double spread = std::sqrt(kernel.spread) / unit;
    const double any_input = (kernel.reach + bias) / unit;
    all.largest =
        std::max(all.largest, std::min(most_deviations * spread + bias / unit, any_input));
    all.expected +=
        std::min(1.0, bias / 2 / unit + spread * std::sqrt(2 / std::numbers::pi)) / kernels;
}

/// Adds the common start of every sequence of the layer; false if no kernel is to be folded.
bool begin_folding(const QuantisedLayer& layer, LayerSequence& folded) {
    folded.reason = layer.obstacle;
    if (!folded.reason.empty() || layer.is_pool) {
        return false;
    }
    folded.deviation = Deviation{.folded = true};
    return true;
}

std::size_t kernels_of(const QuantisedLayer& layer) {
    const Sizes& sizes = layer.weights.type.sizes;
    return static_cast<std::size_t>(layer.is_conv ? sizes.front() : sizes.back());
}

}  // namespace

LayerSequence real_sequence(QuantisedLayer& layer) {
    LayerSequence folded{.divisor = {1}, .real = true};
    if (!begin_folding(layer, folded)) {
        return folded;
    }
    const std::size_t kernels = kernels_of(layer);
    for (std::size_t k = 0; k < kernels; ++k) {
        KernelWeights weights(layer.weights.numbers, layer.is_conv, kernels, k);
        const double factor = of_kernel(layer.factors, k, 1);
        double sum = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            weights[i] *= factor;
            sum += weights[i];
        }
        folded.bias.push_back(of_kernel(layer.bias, k, 0) * factor - layer.input_zero * sum +
                              layer.output_zero + 0.5);
    }
    return folded;
}

LayerSequence folded_sequence(QuantisedLayer& layer, const FineMap* fine) {
    LayerSequence folded;
    if (!begin_folding(layer, folded)) {
        return folded;
    }
    const std::size_t kernels = kernels_of(layer);
    std::vector<double> rest(fine != nullptr ? layer.weights.numbers.size() : 0);
    for (std::size_t k = 0; k < kernels; ++k) {
        const auto of_this = [&](std::vector<double>& numbers) {
            return KernelWeights(numbers, layer.is_conv, kernels, k);
        };
        KernelWeights weights = of_this(layer.weights.numbers);
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
        const FoldedKernel kernel =
            KernelFolding(weights, factor * unit, fine != nullptr ? fine->steps : 1)
                .split(of_this(rest));
        folded.bias.push_back(std::nearbyint(bias * factor * unit) - layer.input_zero * kernel.sum -
                              (fine != nullptr ? fine->zero * kernel.fine_sum : 0) +
                              (shift > 0 ? unit / 2 : 0) + layer.output_zero * unit);
        folded.divisor.push_back(unit);
        note_deviation(kernel, unit, static_cast<double>(kernels), *folded.deviation);
    }
    if (std::ranges::any_of(rest, [](double weight) { return weight != 0; })) {
        folded.fine = std::move(rest);
    }
    return folded;
}

}  // namespace npuscope
