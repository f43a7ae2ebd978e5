// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "sim/model/folded_error.h"
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
    FoldedKernel split(KernelWeights fine, TapErrors& taps) {
        FoldedKernel folded{.uneven = taps.largest_window(errors_) / steps_};
        for (std::size_t i = 0; i < weights_.size(); ++i) {
            const double whole = std::nearbyint(weights_[i] / steps_);
            const double rest = weights_[i] - whole * steps_;
            const double error = errors_[i] / steps_;
            const double part = rest / steps_;
            weights_[i] = whole;
            folded.sum += whole;
            folded.granule = common_granule(folded.granule, whole);
            if (steps_ > 1) {
                fine[i] = rest;
                folded.fine_sum += rest;
                folded.granule = common_granule(folded.granule, rest);
            }
            (error > 0 ? folded.raised : folded.lowered) += std::abs(error);
            folded.squares += error * error;
            folded.fine_size += std::abs(part);
            folded.fine_squares += part * part;
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

NumberRange input_codes(const ConvolvedLayer& form) {
    const NumberRange codes =
        is_byte(form.input.element) ? range_of(form.input.element) : NumberRange{-128, 255};
    return {codes.low - form.layer.input_zero, codes.high - form.layer.input_zero};
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

/// The largest shift with which the kernel's weights fit 8 bits, and its bias its register; below 0
/// if there is none.
int shift_of_kernel(KernelWeights weights, double bias, const QuantisedLayer& layer,
                    double factor) {
    double largest = 0;
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        largest = std::max(largest, std::abs(weights[i]));
        sum += weights[i];
    }
    const double real = largest * factor;
    const double reach = std::abs((bias - layer.input_zero * sum) * factor + layer.output_zero) + 2;
    if (factor < 0 || !std::isfinite(real) || !std::isfinite(reach)) {
        return -1;
    }
    int shift = most_shift;
    if (real > 0) {
        shift = std::min(shift, static_cast<int>(std::floor(std::log2(127.49 / real))));
    }
    return std::min(shift, static_cast<int>(std::floor(std::log2(largest_norm_bias / reach))));
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

LayerSequence folded_sequence(ConvolvedLayer& form, const FineMap* fine) {
    QuantisedLayer& layer = form.layer;
    LayerSequence folded;
    if (!begin_folding(layer, folded)) {
        return folded;
    }
    const std::size_t kernels = kernels_of(layer);
    const NumberRange codes = input_codes(form);
    TapErrors taps(form);
    std::vector<double> rest(fine != nullptr ? layer.weights.numbers.size() : 0);
    for (std::size_t k = 0; k < kernels; ++k) {
        const auto of_this = [&](std::vector<double>& numbers) {
            return KernelWeights(numbers, layer.is_conv, kernels, k);
        };
        const KernelWeights weights = of_this(layer.weights.numbers);
        const double factor = of_kernel(layer.factors, k, 1);
        const double bias = of_kernel(layer.bias, k, 0);
        const int shift = shift_of_kernel(weights, bias, layer, factor);
        if (shift < 0) {
            folded.reason = fmt::format(
                "kernel {} has a scale of {} and a bias of {}, which the NPU cannot "
                "represent",
                k, factor, bias);
            return folded;
        }
        const double unit = std::ldexp(1.0, shift);
        const FoldedKernel kernel =
            KernelFolding(weights, factor * unit, fine != nullptr ? fine->steps : 1)
                .split(of_this(rest), taps);
        const double offset = std::nearbyint(bias * factor * unit) - layer.input_zero * kernel.sum -
                              (fine != nullptr ? fine->zero * kernel.fine_sum : 0);
        folded.bias.push_back(offset + (shift > 0 ? unit / 2 : 0) + layer.output_zero * unit);
        folded.divisor.push_back(unit);
        Deviation& all = *folded.deviation;
        const double rounded = 0.5;  // the bias; and halves of a result, which are rounded up
        all.largest = std::max(all.largest, (largest_error(kernel, codes) + rounded) / unit);
        all.expected += std::clamp(mean_error(kernel) / unit,
                                   share_of_halves(offset, kernel.granule, shift), 1.0) /
                        static_cast<double>(kernels);
    }
    if (std::ranges::any_of(rest, [](double weight) { return weight != 0; })) {
        folded.fine = std::move(rest);
    }
    return folded;
}

}  // namespace npuscope
