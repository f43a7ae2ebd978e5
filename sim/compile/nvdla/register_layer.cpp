// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/register_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <span>

#include "models/base/check.h"

namespace npuscope {
namespace {

constexpr std::int64_t largest_factor = 16383;
constexpr std::int64_t largest_sum = 2147483647;
constexpr std::int64_t largest_operand = 32767;
constexpr unsigned rest_bits = 16;  // of a bias that the second stage adds

bool uses_all_codes(const NumberRange& range) { return range.high - range.low == 255; }

/// What clips a result from below.
enum class Floor { Saturation, Relu, SecondStage };

Diagnostic sequence_problem(std::string_view field, std::string sentence, std::string remedy) {
    return {
        .sentence = std::move(sentence), .remedy = std::move(remedy), .field = std::string(field)};
}

class Staging {
 public:
    explicit Staging(LoweredLayer& lowered)
        : lowered_(lowered),
          sequence_(lowered.sequence),
          zero_in_(stored_zero(sequence_.input)),
          zero_out_(stored_zero(sequence_.result)),
          zero_residual_(sequence_.residual ? stored_zero(*sequence_.residual) : 0) {}

    std::optional<Diagnostic> stage() {
        choose_floor();
        if (floor_ == Floor::SecondStage && sequence_.residual) {
            return sequence_problem(scale_field,
                                    fmt::format("after an addition it clips to {} with scales "
                                                "that do not divide the limit",
                                                sequence_.result.low),
                                    "scale by powers of two, or clip to 0 or to 256 values");
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
    /// What a scaled sum must lose so that a ReLU cuts at the lower limit.
    std::int64_t moved() const {
        const auto low = static_cast<std::int64_t>(sequence_.result.low);
        return (low - zero_residual_) * (std::int64_t{1} << sequence_.shift);
    }

    void choose_floor() {
        const auto& scales = sequence_.scale;
        if (uses_all_codes(sequence_.result)) {
            floor_ = Floor::Saturation;
        } else if (std::ranges::all_of(scales, [&](std::int64_t scale) {
                       return moved() == 0 || (scale != 0 && moved() % scale == 0);
                   })) {
            floor_ = Floor::Relu;
        } else {
            floor_ = Floor::SecondStage;
        }
    }

    /// Of stored values, cut so that 0 is the lower limit where a ReLU follows.
    std::int64_t bias_of(std::size_t k) const {
        const bool moves = floor_ == Floor::Relu && moved() != 0;
        return sequence_.bias[k] + zero_in_ * weight_sum(k) -
               (moves ? moved() / sequence_.scale[k] : 0);
    }

    /// Of the convertor: half a step less one, and from the numbers that reach it to stored ones.
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
        LayerNumbers& numbers = lowered_.numbers;
        if (every % (std::int64_t{1} << shift) == 0) {
            numbers.bias_shift = shift;
            for (const std::int64_t bias : bias_) {
                numbers.bias.push_back(static_cast<std::int16_t>(bias >> shift));
            }
            return std::nullopt;
        }
        if (sequence_.residual || floor_ == Floor::SecondStage || largest > largest_sum) {
            return sequence_problem(
                bias_field,
                fmt::format("its biases reach {} and are not multiples of {}", largest,
                            std::int64_t{1} << shift),
                fmt::format("where the second stage has other work, biases have 16 bits, shifted "
                            "left together: round them to multiples of {}",
                            std::int64_t{1} << shift));
        }
        numbers.bias_shift = rest_bits;
        for (const std::int64_t bias : bias_) {
            const std::int64_t high = (bias + (1 << (rest_bits - 1))) >> rest_bits;
            numbers.bias.push_back(static_cast<std::int16_t>(high));
            numbers.rest.push_back(static_cast<std::int16_t>(bias - (high << rest_bits)));
        }
        return std::nullopt;
    }

    /// For any input.
    std::optional<Diagnostic> sums_leave_32_bits() const {
        const auto low = static_cast<std::int64_t>(std::min(0.0, sequence_.input.low));
        const auto high = static_cast<std::int64_t>(std::max(0.0, sequence_.input.high));
        const std::int64_t residual =
            sequence_.residual ? std::int64_t{128} << (sequence_.shift + 1) : 0;
        for (std::size_t k = 0; k < kernels(); ++k) {
            const std::int64_t raw = zero_in_ * weight_sum(k);  // stored sums lack it
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
                    "they must stay within 32 bits: take a smaller scale and shift");
            }
        }
        return std::nullopt;
    }

    void set_stages() {
        LayerNumbers& numbers = lowered_.numbers;
        const unsigned shift = sequence_.shift + 1;
        for (const std::int64_t scale : sequence_.scale) {
            numbers.factor.push_back(static_cast<std::int16_t>(2 * scale));
        }
        (sequence_.residual ? lowered_.relu_after_residual : lowered_.layer.relu) =
            floor_ == Floor::Relu;
        if (floor_ == Floor::SecondStage) {
            numbers.least = static_cast<std::int16_t>(sequence_.result.low);
            numbers.least_shift = shift;
        }
        numbers.convertor = {
            .offset = static_cast<std::int32_t>(offset()), .scale = 1, .shift = shift};
        numbers.residual_shift = shift;
        numbers.padding = static_cast<std::int8_t>(-zero_in_);
        numbers.weights = std::move(sequence_.weights);
        sequence_ = {};
    }

    LoweredLayer& lowered_;
    IntegerSequence& sequence_;
    std::int64_t zero_in_;
    std::int64_t zero_out_;
    std::int64_t zero_residual_;
    Floor floor_ = Floor::Saturation;
    std::vector<std::int64_t> bias_;  ///< for stored values
};

constexpr NumberRange int8_range{-128, 127};
constexpr int largest_shift = 30;  // of sums of 32 bits
constexpr std::int64_t largest_size = 65536;

bool is_whole(double number) { return number == std::trunc(number); }

Diagnostic problem_at(const GraphView& model, std::size_t node, std::string sentence,
                      std::string remedy) {
    return {.sentence = std::move(sentence),
            .remedy = std::move(remedy),
            .operation = node_name(model.node(node))};
}

/// The numbers of a feature map; a problem where int8 with a zero point cannot hold them.
std::optional<NumberRange> map_range(const GraphView& model, const std::string& tensor,
                                     std::size_t reader, Diagnostics& problems) {
    const ValueRange* known = model.range(tensor);
    if (known == nullptr || !known->whole) {
        problems.push_back(problem_at(model, reader, fmt::format("'{}' holds no integers", tensor),
                                      "feature maps have 8 bits: round and clip it"));
        return std::nullopt;
    }
    const NumberRange range = known->range;
    if (!fits_bits(range, 8)) {
        problems.push_back(problem_at(
            model, reader,
            fmt::format("'{}' holds numbers from {} to {}", tensor, range.low, range.high),
            "feature maps have 8 bits: clip it to -128..127, or to 0..255"));
        return std::nullopt;
    }
    return range;
}

class LayerLowering {
 public:
    LayerLowering(const GraphView& model, const Candidate& candidate, Diagnostics& problems)
        : model_(model), candidate_(candidate), problems_(problems) {}

    LoweredLayer lower() {
        for (const Diagnostic& problem : candidate_.problems) {
            problems_.push_back(problem);
            problems_.back().remedy = problem.allowed;
        }
        check_input();
        take_kind();
        take_window();
        if (candidate_.pattern != Pattern::Maxpool && problems_.empty()) {
            take_weights();
            take_sequence();
        }
        return std::move(lowered_);
    }

 private:
    void complain(std::size_t node, std::string sentence, std::string remedy) {
        problems_.push_back(problem_at(model_, node, std::move(sentence), std::move(remedy)));
    }
    void complain(std::string sentence, std::string remedy) {
        complain(candidate_.anchor, std::move(sentence), std::move(remedy));
    }

    void check_input() {
        input_ = map_range(model_, candidate_.input, candidate_.anchor, problems_);
        if (!candidate_.norm.residual.empty()) {
            residual_ = map_range(model_, candidate_.norm.residual, candidate_.norm.residual_node,
                                  problems_);
        }
        if (candidate_.in[0] != 1) {
            complain(fmt::format("its batch is {}", candidate_.in[0]), "a batch is 1");
        }
        if (candidate_.window.axes.size() != 2) {
            complain("its windows are not 2-d", "use a height of 1");
        }
    }

    void take_kind() {
        Layer& layer = lowered_.layer;
        layer.kernels = static_cast<std::uint32_t>(candidate_.out[1]);
        layer.bias = true;
        if (std::max(candidate_.out[1], candidate_.groups) > largest_size) {
            complain(fmt::format("it has {} kernels", candidate_.out[1]), "no size exceeds 65536");
        }
        switch (candidate_.pattern) {
            case Pattern::Maxpool:
                layer.kind = LayerKind::MaxPool;
                layer.kernels = 0;
                return;
            case Pattern::Fc:
                layer.kind = LayerKind::Fc;
                return;
            case Pattern::Tconv:
                complain("transposed convolutions are not planned",
                         "use a convolution, or an NPU of layer patterns");
                return;
            default:
                layer.groups = static_cast<std::uint32_t>(candidate_.groups);
        }
    }

    void take_window() {
        if (candidate_.pattern == Pattern::Fc || candidate_.window.axes.size() != 2) {
            return;
        }
        const WindowAxis height = candidate_.window.height();
        const WindowAxis width = candidate_.window.width();
        if (height.dilation != 1 || width.dilation != 1) {
            complain(fmt::format("its dilation is {}x{}", height.dilation, width.dilation),
                     "dilated kernels are not planned: store the kernel with zeros between");
        }
        const auto size = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
        Layer& layer = lowered_.layer;
        layer.kernel = size(height.kernel);
        layer.kernel_width = size(width.kernel);
        layer.stride = size(height.stride);
        layer.stride_width = size(width.stride);
        layer.padding = size(height.pad_begin);
        layer.padding_end = end_padding(height);
        layer.padding_width = size(width.pad_begin);
        layer.padding_width_end = end_padding(width);
        const bool beyond =
            std::max(layer.padding, *layer.padding_end) >= layer.kernel ||
            std::max(*layer.padding_width, *layer.padding_width_end) >= *layer.kernel_width;
        if (beyond && candidate_.pattern != Pattern::Tconv) {
            complain("a window lies in the padding altogether",
                     "padding must be smaller than the kernel");
        }
        const bool pads =
            layer.padding + *layer.padding_end + *layer.padding_width + *layer.padding_width_end >
            0;
        if (candidate_.pattern != Pattern::Maxpool && pads && input_ &&
            (input_->low > 0 || input_->high < 0)) {
            complain(fmt::format("it pads with 0, its input holds numbers from {} to {}",
                                 input_->low, input_->high),
                     "clip the input to a range with 0 in it");
        }
    }
    /// With what ceil_mode adds.
    static std::uint32_t end_padding(const WindowAxis& axis) {
        const std::int64_t reached = (axis.out - 1) * axis.stride + axis.span();
        return static_cast<std::uint32_t>(
            std::max(axis.pad_end, reached - axis.in - axis.pad_begin));
    }

    void take_weights() {
        std::vector<std::int8_t>& weights = sequence_.weights;
        if (candidate_.is_pool()) {
            const WindowAxis height = candidate_.window.height();
            const WindowAxis width = candidate_.window.width();
            const bool padded =
                height.pad_begin + height.pad_end + width.pad_begin + width.pad_end > 0;
            if (padded && !candidate_.count_padding) {
                complain("an average over fewer elements at the border has no one scale",
                         "set count_include_pad, or take out the padding");
            }
            weights.assign(
                static_cast<std::size_t>(candidate_.in[1] * candidate_.window.kernel_area()), 1);
            return;
        }
        const auto& numbers = candidate_.weights.numbers;
        const auto wrong = std::ranges::find_if(numbers, [](double w) {
            return !is_whole(w) || w < int8_range.low || w > int8_range.high;
        });
        if (wrong != numbers.end()) {
            complain(fmt::format("one of its weights is {}", *wrong), "weights are int8");
            return;
        }
        weights.resize(numbers.size());
        const bool turned = candidate_.pattern == Pattern::Fc;  // [C K]
        const auto kernels = static_cast<std::size_t>(candidate_.out[1]);
        const std::size_t inner = numbers.size() / std::max<std::size_t>(kernels, 1);
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            weights[i] = static_cast<std::int8_t>(turned ? numbers[i % inner * kernels + i / inner]
                                                         : numbers[i]);
        }
    }

    static double at(const std::optional<Step>& step, std::size_t kernel, double fallback) {
        return step ? step->at(kernel) : fallback;
    }
    std::size_t node_of(const std::optional<Step>& step) const {
        return step ? step->node : candidate_.anchor;
    }

    void take_sequence() {
        if (!take_scales()) {
            return;
        }
        const NormSequence& norm = candidate_.norm;
        const auto result = map_range(model_, candidate_.output, norm.clip->node, problems_);
        if (!result) {
            return;
        }
        sequence_.input = *input_;
        sequence_.residual = residual_;
        sequence_.result = *result;
        if (auto problem = stage_sequence(lowered_)) {
            problem->operation = node_name(model_.node(node_of(problem->field)));
            problems_.push_back(*std::move(problem));
        }
        lowered_.numbers.joins_unclipped = residual_.has_value();
    }
    std::size_t node_of(std::string_view field) const {
        const NormSequence& norm = candidate_.norm;
        return field == bias_field    ? node_of(norm.bias)
               : field == scale_field ? node_of(norm.scale)
                                      : candidate_.anchor;
    }

    /// Biases, and scales before a shift that all kernels share.
    bool take_scales() {
        const NormSequence& norm = candidate_.norm;
        const auto kernels = static_cast<std::size_t>(candidate_.out[1]);
        int most = 0;
        for (std::size_t k = 0; k < kernels; ++k) {
            const double divisor = at(norm.divisor, k, 1);
            int exponent = 0;
            if (!(divisor >= 1) || std::frexp(divisor, &exponent) != 0.5 ||
                exponent - 1 > largest_shift) {
                complain(node_of(norm.divisor), fmt::format("it divides by {}", divisor),
                         fmt::format("divisors are 2^0..2^{}", largest_shift));
                return false;
            }
            most = std::max(most, exponent - 1);
        }
        sequence_.shift = static_cast<unsigned>(most);
        for (std::size_t k = 0; k < kernels; ++k) {
            const double scale =
                at(norm.scale, k, 1) * std::ldexp(1.0, most) / at(norm.divisor, k, 1);
            const double bias = at(norm.bias, k, 0);
            if (!is_whole(scale) || scale < 0 || scale > largest_factor) {
                complain(
                    node_of(norm.scale),
                    fmt::format("kernel {} is scaled by {} before a shift by {}", k, scale, most),
                    "scales are 0..16383, where shifts differ times what they differ by");
                return false;
            }
            if (!is_whole(bias) || std::abs(bias) > static_cast<double>(largest_sum)) {
                complain(node_of(norm.bias), fmt::format("one of its biases is {}", bias),
                         "biases are integers");
                return false;
            }
            sequence_.scale.push_back(static_cast<std::int64_t>(scale));
            sequence_.bias.push_back(static_cast<std::int64_t>(bias));
        }
        return true;
    }

    const GraphView& model_;
    const Candidate& candidate_;
    Diagnostics& problems_;
    std::optional<NumberRange> input_;
    std::optional<NumberRange> residual_;
    LoweredLayer lowered_;
    IntegerSequence& sequence_ = lowered_.sequence;
};

}  // namespace

std::optional<Diagnostic> stage_sequence(LoweredLayer& lowered) {
    const IntegerSequence& sequence = lowered.sequence;
    NPU_CHECK(!sequence.bias.empty() && sequence.bias.size() == sequence.scale.size(),
              "every kernel has a bias and a scale");
    return Staging(lowered).stage();
}

LoweredLayer stage_sum(const NumberRange& a, const NumberRange& b, const NumberRange& result) {
    const std::int32_t zeros = stored_zero(a) + stored_zero(b);
    const auto low = static_cast<std::int32_t>(result.low);
    LoweredLayer lowered;
    lowered.layer.relu = !uses_all_codes(result);
    if (lowered.layer.relu) {
        lowered.numbers.constant = static_cast<std::int16_t>(zeros - low);
    }
    lowered.numbers.convertor.offset = stored_zero(result) - (lowered.layer.relu ? low : zeros);
    return lowered;
}

LoweredLayer lower_layer(const GraphView& model, const Candidate& candidate,
                         Diagnostics& problems) {
    Diagnostics own;
    LoweredLayer lowered = LayerLowering(model, candidate, own).lower();
    problems.insert(problems.end(), own.begin(), own.end());
    return lowered;
}

LoweredLayer lower_sum(const GraphView& model, const Sum& sum, Diagnostics& problems) {
    const auto a = map_range(model, sum.terms[0], sum.node, problems);
    const auto b = map_range(model, sum.terms[1], sum.node, problems);
    const auto result = map_range(model, sum.output, sum.clip.node, problems);
    return a && b && result ? stage_sum(*a, *b, *result) : LoweredLayer{};
}

}  // namespace npuscope
