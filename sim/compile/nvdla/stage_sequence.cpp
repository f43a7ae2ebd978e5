// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <span>

#include "models/base/check.h"
#include "sim/compile/nvdla/register_layer.h"

namespace npuscope {
namespace {

constexpr unsigned rest_bits = 16;  // of a bias, added by the second stage

/// What clips a result from below.
enum class Floor { Saturation, Relu, SecondStage };

Diagnostic sequence_problem(std::string_view field, std::string sentence, std::string remedy) {
    return {
        .sentence = std::move(sentence), .remedy = std::move(remedy), .field = std::string(field)};
}

class Staging {
 public:
    Staging(IntegerSequence sequence, Layer& layer)
        : layer_(layer),
          numbers_(layer.numbers.emplace()),
          sequence_(std::move(sequence)),
          zero_in_(stored_zero(sequence_.input)),
          zero_out_(stored_zero(sequence_.result)),
          zero_residual_(sequence_.residual ? stored_zero(*sequence_.residual) : 0) {
        if (sequence_.zero) {
            lowest_ = static_cast<std::int64_t>(sequence_.result.low) - *sequence_.zero;
        }
    }

    std::optional<Diagnostic> stage() {
        choose_floor();
        if (floor_ == Floor::SecondStage && sequence_.residual) {
            return sequence_problem(
                scale_field,
                fmt::format("after an addition it clips to {}, which its scales do not divide",
                            sequence_.result.low),
                "scale by powers of two, or clip to 0 or to a range of 256 values");
        }
        if (floor_ == Floor::SecondStage && !sequence_.first.empty()) {
            return sequence_problem(scale_field,
                                    "its scales of more than 15 bits need the multiplier of the "
                                    "second stage, where it clips to a limit",
                                    "clip to the zero point or to a range of 256 values");
        }
        if (sequence_.even && floor_ == Floor::SecondStage) {
            return sequence_problem(scale_field, "it rounds half to even and clips to a limit",
                                    "clip to the zero point or to a range of 256 values");
        }
        for (std::size_t k = 0; k < kernels(); ++k) {
            bias_.push_back(bias_of(k));
        }
        if (auto problem = set_bias()) {
            return problem;
        }
        if (auto problem = sums_leave_32_bits()) {
            return problem;
        }
        if (doubles() && !numbers_.rest.empty()) {
            return sequence_problem(
                bias_field,
                "it rounds half to even, with an odd zero point and biases of more than 16 bits",
                "take smaller biases, or round down after half a step");
        }
        set_stages();
        return std::nullopt;
    }

 private:
    std::size_t kernels() const { return sequence_.bias.size(); }
    std::span<const std::int8_t> kernel(std::size_t k) const {
        const std::size_t inner = sequence_.weights.size() / kernels();
        return std::span(sequence_.weights).subspan(k * inner, inner);
    }
    std::int64_t weight_sum(std::size_t k) const {
        return std::accumulate(kernel(k).begin(), kernel(k).end(), std::int64_t{0});
    }
    bool rounds() const { return sequence_.zero.has_value(); }
    /// Half a step of the first division for each step of the stored zero.
    bool doubles() const { return sequence_.even && (*sequence_.zero - zero_out_) % 2 != 0; }
    /// What must be subtracted from a scaled sum so that a ReLU clips at the lower limit.
    std::int64_t moved() const {
        if (rounds()) {
            return lowest_ << sequence_.shift;
        }
        const auto low = static_cast<std::int64_t>(sequence_.result.low);
        return (low - zero_residual_) * (std::int64_t{1} << sequence_.shift);
    }

    void choose_floor() {
        const auto& scales = sequence_.scale;
        if (uses_all_codes(sequence_.result)) {
            floor_ = Floor::Saturation;
        } else if (std::ranges::all_of(scales, [&](std::int64_t scale) {
                       return moved() == 0 || (!rounds() && scale != 0 && moved() % scale == 0);
                   })) {
            floor_ = Floor::Relu;
        } else {
            floor_ = Floor::SecondStage;
        }
    }

    /// For stored values, reduced so that 0 is the lower limit where a ReLU follows.
    std::int64_t bias_of(std::size_t k) const {
        const bool moves = floor_ == Floor::Relu && moved() != 0;
        return sequence_.bias[k] + (zero_in_ - sequence_.input_zero) * weight_sum(k) -
               (moves ? moved() / sequence_.scale[k] : 0);
    }

    /// Of the convertor: half a step minus one, and from its input values to stored ones.
    std::int64_t offset() const {
        const std::int64_t lost = floor_ == Floor::Relu
                                      ? static_cast<std::int64_t>(sequence_.result.low)
                                      : zero_residual_;
        const std::int64_t step = std::int64_t{1} << (sequence_.shift + 1);
        return step / 2 - 1 + (zero_out_ - lost) * step;
    }

    std::optional<Diagnostic> set_bias() {
        std::int64_t every = 0;
        std::int64_t largest = 0;
        for (const std::int64_t bias : bias_) {
            every |= bias;
            largest = std::max(largest, std::abs(bias));
        }
        unsigned shift = 0;
        while (largest >> shift > largest_operand) {
            ++shift;
        }
        if (!sequence_.first.empty()) {
            return set_multiplied_bias(shift);
        }
        if (every % (std::int64_t{1} << shift) == 0) {
            numbers_.bias_shift = shift;
            for (const std::int64_t bias : bias_) {
                numbers_.bias.push_back(static_cast<std::int16_t>(bias >> shift));
            }
            return std::nullopt;
        }
        if (sequence_.residual || floor_ == Floor::SecondStage || largest > largest_sum) {
            return sequence_problem(
                bias_field,
                fmt::format("its biases reach {} and are not multiples of {}", largest,
                            std::int64_t{1} << shift),
                fmt::format("where the second stage is in use, biases have 16 bits and one common "
                            "left shift: round them to multiples of {}",
                            std::int64_t{1} << shift));
        }
        numbers_.bias_shift = rest_bits;
        for (const std::int64_t bias : bias_) {
            const std::int64_t high = (bias + (1 << (rest_bits - 1))) >> rest_bits;
            numbers_.bias.push_back(static_cast<std::int16_t>(high));
            numbers_.rest.push_back(static_cast<std::int16_t>(bias - (high << rest_bits)));
        }
        return std::nullopt;
    }

    /// The first stage adds the upper bits and multiplies; the second adds the scaled remainder.
    std::optional<Diagnostic> set_multiplied_bias(unsigned shift) {
        const std::int64_t unit = std::int64_t{1} << shift;
        numbers_.bias_shift = shift;
        for (std::size_t k = 0; k < kernels(); ++k) {
            const std::int64_t high =
                std::clamp((bias_[k] + unit / 2) >> shift, -largest_operand, largest_operand);
            const std::int64_t rest = (bias_[k] - high * unit) * sequence_.first[k];
            if (std::abs(rest) > largest_operand) {
                return sequence_problem(
                    bias_field, fmt::format("bias {} cannot be expressed in 16 bits", bias_[k]),
                    "take smaller biases");
            }
            numbers_.bias.push_back(static_cast<std::int16_t>(high));
            numbers_.first_factor.push_back(static_cast<std::int16_t>(sequence_.first[k]));
            numbers_.rest.push_back(static_cast<std::int16_t>(rest));
        }
        return std::nullopt;
    }

    /// For any input.
    std::optional<Diagnostic> sums_leave_32_bits() const {
        return rounds() ? rounded_sums_leave_32_bits() : scaled_sums_leave_32_bits();
    }
    /// Whether a product that saturates in the first stage is beyond every result in the second.
    bool saturation_is_clipped(std::size_t k) const {
        const std::int64_t least = largest_sum - largest_operand - 1;
        const auto high = static_cast<std::int64_t>(sequence_.result.high) - *sequence_.zero;
        return (least * sequence_.scale[k]) >> sequence_.shift > std::max(high, -lowest_);
    }
    /// The multiplier's product is shifted before it is narrowed.
    std::optional<Diagnostic> rounded_sums_leave_32_bits() const {
        for (std::size_t k = 0; k < kernels(); ++k) {
            std::int64_t reach = std::abs(bias_[k]) + largest_operand + 1;
            for (const std::int8_t weight : kernel(k)) {
                reach += std::abs(std::int64_t{weight}) * 128;
            }
            const std::int64_t first = sequence_.first.empty() ? 1 : sequence_.first[k];
            const bool clipped = first > 1 && saturation_is_clipped(k);
            if (reach > largest_sum || (reach * first > largest_sum && !clipped)) {
                return sequence_problem("sum",
                                        fmt::format("sums of kernel {} may reach {}", k, reach),
                                        "they must stay within 32 bits");
            }
        }
        return std::nullopt;
    }
    std::optional<Diagnostic> scaled_sums_leave_32_bits() const {
        const auto low = static_cast<std::int64_t>(std::min(0.0, sequence_.input.low));
        const auto high = static_cast<std::int64_t>(std::max(0.0, sequence_.input.high));
        const std::int64_t residual =
            sequence_.residual ? std::int64_t{128} << (sequence_.shift + 1) : 0;
        for (std::size_t k = 0; k < kernels(); ++k) {
            const std::int64_t raw = zero_in_ * weight_sum(k);  // not part of stored sums
            std::int64_t least = bias_[k] - raw;
            std::int64_t most = least;
            for (const std::int8_t weight : kernel(k)) {
                least += std::min(weight * low, weight * high);
                most += std::max(weight * low, weight * high);
            }
            const std::int64_t largest = std::max(std::abs(least), std::abs(most));
            const std::int64_t scaled =
                largest * 2 * std::max<std::int64_t>(sequence_.scale[k], 1) + residual;
            const std::int64_t stored =
                std::max(std::abs(least - bias_[k]), std::abs(most - bias_[k]));
            if (std::max({scaled, stored, largest + largest_operand + 1, std::abs(offset())}) >
                largest_sum) {
                return sequence_problem(
                    "sum", fmt::format("scaled sums of kernel {} may reach {}", k, scaled),
                    "they must stay within 32 bits: use a smaller scale and shift");
            }
        }
        return std::nullopt;
    }

    void set_rounded_stages() {
        const std::int64_t zero = *sequence_.zero - zero_out_;
        const std::int64_t first = sequence_.even ? sequence_.even->first : 1;
        for (const std::int64_t scale : sequence_.scale) {
            numbers_.factor.push_back(static_cast<std::int16_t>(first * scale));
        }
        numbers_.factor_shift = sequence_.shift + (sequence_.even ? 1 : 0);
        layer_.relu = floor_ == Floor::Relu;
        if (floor_ == Floor::SecondStage) {
            numbers_.least = static_cast<std::int16_t>(lowest_);
        }
        if (sequence_.even) {
            numbers_.convertor = second_division(*sequence_.even, zero);
            numbers_.gain = doubles() ? 2 : 1;
        } else {
            numbers_.convertor.offset = static_cast<std::int32_t>(-zero);
        }
    }

    void set_stages() {
        rounds() ? set_rounded_stages() : set_floored_stages();
        numbers_.padding = static_cast<std::int8_t>(sequence_.input_zero - zero_in_);
        numbers_.weights = std::move(sequence_.weights);
    }

    void set_floored_stages() {
        const unsigned shift = sequence_.shift + 1;
        for (const std::int64_t scale : sequence_.scale) {
            numbers_.factor.push_back(static_cast<std::int16_t>(2 * scale));
        }
        (sequence_.residual ? numbers_.relu_after_join : layer_.relu) = floor_ == Floor::Relu;
        if (floor_ == Floor::SecondStage) {
            numbers_.least = static_cast<std::int16_t>(sequence_.result.low);
            numbers_.least_shift = shift;
        }
        numbers_.convertor = {
            .offset = static_cast<std::int32_t>(offset()), .scale = 1, .shift = shift};
        numbers_.residual_shift = shift;
    }

    Layer& layer_;
    LayerNumbers& numbers_;
    IntegerSequence sequence_;
    std::int64_t zero_in_;
    std::int64_t zero_out_;
    std::int64_t zero_residual_;
    std::int64_t lowest_ = 0;  ///< rounded quotient of the lower limit
    Floor floor_ = Floor::Saturation;
    std::vector<std::int64_t> bias_;  ///< for stored values
};

}  // namespace

std::optional<Diagnostic> stage_sequence(IntegerSequence sequence, Layer& layer) {
    NPU_CHECK(!sequence.bias.empty() && sequence.bias.size() == sequence.scale.size(),
              "every kernel has a bias and a scale");
    return Staging(std::move(sequence), layer).stage();
}

}  // namespace npuscope
