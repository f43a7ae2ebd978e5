// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/register_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/model/prepare_graph.h"

namespace npuscope {
namespace {

constexpr NumberRange int8_range{-128, 127};
constexpr int largest_shift = 40;  // of 48-bit products

bool is_whole(double number) { return number == std::trunc(number); }

class LayerLowering {
 public:
    LayerLowering(const GraphView& model, const Candidate& candidate, Diagnostics& problems)
        : model_(model),
          candidate_(candidate),
          window_(plane_window(candidate.window)),
          problems_(problems) {}

    Layer lower() {
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
        take_macs(model_.node(candidate_.anchor), layer_);
        return std::move(layer_);
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
            check_residual();
        }
        if (candidate_.in[0] != 1) {
            complain(fmt::format("its batch size is {}", candidate_.in[0]), "use batch size 1");
        }
        if (window_.axes.size() != 2) {
            complain("its windows have three dimensions", "use windows of one or two dimensions");
        }
    }

    void check_residual() {
        const Sizes& residual = model_.sizes(candidate_.norm.residual);
        const Sizes& result = model_.sizes(joined_result(model_, candidate_.norm));
        if (residual != result) {
            complain(candidate_.norm.residual_node,
                     fmt::format("its residual is {}, but the result that it is added to is {}",
                                 sizes_text(residual), sizes_text(result)),
                     "add maps of one shape");
        }
    }

    void take_kind() {
        layer_.kernels = static_cast<std::uint32_t>(candidate_.out[1]);
        layer_.bias = true;
        if (std::max(candidate_.out[1], candidate_.groups) > largest_layer_size) {
            complain(fmt::format("it has {} kernels", candidate_.out[1]),
                     "sizes are at most 65536");
        }
        switch (candidate_.pattern) {
            case Pattern::Maxpool:
                layer_.kind = LayerKind::MaxPool;
                layer_.kernels = 0;
                return;
            case Pattern::Fc:
                layer_.kind = LayerKind::Fc;
                return;
            case Pattern::Tconv:
                refuse_transposed();
                return;
            default:
                layer_.groups = static_cast<std::uint32_t>(candidate_.groups);
        }
    }

    /// One that the model's preparation did not turn into a convolution (convolve_transposed). What
    /// was missing from its sequence is told already.
    void refuse_transposed() {
        const WindowAxis height = window_.height();
        const WindowAxis width = window_.width();
        if (height.dilation != 1 || width.dilation != 1) {
            complain(fmt::format("its dilation is {}x{}", height.dilation, width.dilation),
                     "transposed convolutions must not be dilated");
        } else if (problems_.empty()) {
            complain("it cannot be expressed as a convolution, which this NPU requires",
                     "remove its output_shape, or leave it to the host");
        }
    }

    void take_window() {
        if (candidate_.pattern == Pattern::Fc || window_.axes.size() != 2) {
            return;
        }
        const auto problem = set_window(window_, !candidate_.is_pool(), layer_);
        if (problem && candidate_.pattern != Pattern::Tconv) {
            complain(problem->sentence, problem->remedy);
        }
        const bool pads = layer_.padding + *layer_.padding_end + *layer_.padding_width +
                              *layer_.padding_width_end >
                          0;
        if (candidate_.pattern != Pattern::Maxpool && pads && input_ &&
            (input_->low > candidate_.input_zero || input_->high < candidate_.input_zero)) {
            complain(
                fmt::format("it pads with {}, but its input ranges from {} to {}",
                            candidate_.input_zero, input_->low, input_->high),
                fmt::format("clip the input to a range that includes {}", candidate_.input_zero));
        }
    }
    void take_weights() {
        std::vector<std::int8_t>& weights = sequence_.weights;
        if (candidate_.is_pool()) {
            const WindowAxis height = candidate_.window.height();
            const WindowAxis width = candidate_.window.width();
            const bool padded =
                height.pad_begin + height.pad_end + width.pad_begin + width.pad_end > 0;
            if (padded && !candidate_.count_padding) {
                complain("averaging fewer elements at the border would need a separate scale there",
                         "set count_include_pad, or remove the padding");
            } else if (height.overhangs() || width.overhangs()) {
                complain(
                    "its last window ends beyond the input, so averaging fewer elements there "
                    "would need a separate scale",
                    "clear ceil_mode, or pad the input");
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
            complain(fmt::format("one of its weights is {}", *wrong), "weights must be int8");
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
        sequence_.input_zero = static_cast<std::int64_t>(candidate_.input_zero);
        sequence_.residual = residual_;
        sequence_.result = *result;
        if (auto problem = stage_sequence(std::move(sequence_), layer_)) {
            problem->operation = node_name(model_.node(node_of(problem->field)));
            problems_.push_back(*std::move(problem));
        }
        layer_.numbers->joins_unclipped = residual_.has_value();
    }
    std::size_t node_of(std::string_view field) const {
        const NormSequence& norm = candidate_.norm;
        return field == bias_field    ? node_of(norm.bias)
               : field == scale_field ? node_of(norm.scale)
                                      : candidate_.anchor;
    }

    /// The offset must be half a step plus whole steps.
    bool take_zero() {
        const NormSequence& norm = candidate_.norm;
        if (norm.to_even) {
            return take_even();
        }
        const double step = std::ldexp(1.0, static_cast<int>(sequence_.shift));
        const double zero = norm.offset->at(0) / step - 0.5;
        const bool one = std::ranges::count(norm.offset->numbers, norm.offset->at(0)) ==
                         std::ssize(norm.offset->numbers);
        if (!one || !is_whole(zero) || std::abs(zero) > 512 || residual_) {
            complain(norm.offset->node, fmt::format("it adds {} after scaling", norm.offset->at(0)),
                     fmt::format("add only half of 2^{} and multiples of 2^{} there",
                                 sequence_.shift, sequence_.shift));
            return false;
        }
        sequence_.zero = static_cast<std::int64_t>(zero);
        return true;
    }

    /// Scales must be powers of two and the added offset whole steps; ties go to even.
    bool take_even() {
        const NormSequence& norm = candidate_.norm;
        const auto kernels = static_cast<std::size_t>(candidate_.out[1]);
        const double step = std::ldexp(1.0, static_cast<int>(sequence_.shift));
        const double zero = at(norm.offset, 0, 0) / step;
        bool whole = !residual_ && std::remainder(zero, 2) == 0 && std::abs(zero) <= 512;
        double most = 0;
        for (std::size_t k = 0; k < kernels; ++k) {
            const double scale = at(norm.scale, k, 1) * step / at(norm.divisor, k, 1);
            whole = whole && is_power_of_two(scale) && at(norm.offset, k, 0) == zero * step;
            most = std::max(most, scale);
        }
        sequence_.even =
            whole ? even_division(static_cast<int>(sequence_.shift), most) : std::nullopt;
        if (!sequence_.even) {
            complain(*norm.to_even, "it rounds halves to even",
                     "use powers of two of similar size as scales, or round down after adding half "
                     "a step");
            return false;
        }
        sequence_.zero = static_cast<std::int64_t>(zero);
        return true;
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
        if ((norm.offset || norm.to_even) && !take_zero()) {
            return false;
        }
        const std::int64_t largest = sequence_.zero ? largest_operand : largest_factor;
        for (std::size_t k = 0; k < kernels; ++k) {
            const double scale =
                at(norm.scale, k, 1) * std::ldexp(1.0, most) / at(norm.divisor, k, 1);
            const double bias = at(norm.bias, k, 0);
            const bool twice = sequence_.zero && scale < 0x1p30 && is_whole(scale) && scale >= 0 &&
                               first_multiplier(static_cast<std::int64_t>(scale)) > 0;
            if (!twice && (!is_whole(scale) || scale < 0 || scale > static_cast<double>(largest))) {
                complain(
                    node_of(norm.scale),
                    fmt::format("kernel {} is multiplied by {} before a shift by {}", k, scale,
                                most),
                    fmt::format(
                        "scales must be 0..{}, times 2^d for a kernel whose shift is smaller by d",
                        largest));
                return false;
            }
            if (!is_whole(bias) || std::abs(bias) > static_cast<double>(largest_sum)) {
                complain(node_of(norm.bias), fmt::format("one of its biases is {}", bias),
                         "biases are integers");
                return false;
            }
            const auto whole = static_cast<std::int64_t>(scale);
            const std::int64_t first = first_multiplier(whole);
            sequence_.first.push_back(first);
            sequence_.scale.push_back(whole / first);
            sequence_.bias.push_back(static_cast<std::int64_t>(bias));
        }
        if (std::ranges::count(sequence_.first, 1) == std::ssize(sequence_.first)) {
            sequence_.first.clear();
        }
        return true;
    }

    /// The least multiplier that leaves an operand of a scale; 0 where there is none.
    static std::int64_t first_multiplier(std::int64_t scale) {
        std::int64_t first =
            std::max<std::int64_t>(1, (scale + largest_operand - 1) / largest_operand);
        while (first <= largest_operand && scale % first != 0) {
            ++first;
        }
        return first <= largest_operand ? first : 0;
    }

    const GraphView& model_;
    const Candidate& candidate_;
    Window window_;
    Diagnostics& problems_;
    std::optional<NumberRange> input_;
    std::optional<NumberRange> residual_;
    Layer layer_;
    IntegerSequence sequence_;
};

/// Including what ceil_mode adds.
std::uint32_t end_padding(const WindowAxis& axis) {
    const std::int64_t reached = (axis.out - 1) * axis.stride + axis.span();
    return static_cast<std::uint32_t>(std::max(axis.pad_end, reached - axis.in - axis.pad_begin));
}

}  // namespace

Diagnostic problem_at(const GraphView& model, std::size_t node, std::string sentence,
                      std::string remedy) {
    return {.sentence = std::move(sentence),
            .remedy = std::move(remedy),
            .operation = node_name(model.node(node))};
}

std::optional<NumberRange> map_range(const GraphView& model, const std::string& tensor,
                                     std::size_t reader, Diagnostics& problems) {
    const ValueRange* known = model.range(tensor);
    if (known == nullptr || !known->whole) {
        problems.push_back(problem_at(model, reader,
                                      fmt::format("'{}' does not hold integers", tensor),
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

void take_macs(const GraphNode& node, Layer& layer) {
    if (node.has(macs_attribute) && layer.numbers) {
        layer.numbers->macs = static_cast<std::uint64_t>(node.integer(macs_attribute, 0));
    }
}

std::optional<Diagnostic> set_window(const Window& window, bool convolves, Layer& layer) {
    const WindowAxis height = window.height();
    const WindowAxis width = window.width();
    const auto size = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
    for (const WindowAxis& axis : {height, width}) {
        const std::int64_t largest =
            std::max({axis.kernel, axis.stride, axis.dilation, axis.pad_begin, axis.pad_end});
        if (largest > largest_layer_size) {
            return Diagnostic{.sentence = fmt::format("a size of its window is {}", largest),
                              .remedy = fmt::format("at most {}", largest_layer_size)};
        }
    }
    layer.kernel = size(height.kernel);
    layer.kernel_width = size(width.kernel);
    layer.stride = size(height.stride);
    layer.stride_width = size(width.stride);
    layer.dilation = size(height.dilation);
    layer.dilation_width = size(width.dilation);
    layer.padding = size(height.pad_begin);
    layer.padding_end = end_padding(height);
    layer.padding_width = size(width.pad_begin);
    layer.padding_width_end = end_padding(width);
    if (!convolves && (height.dilation != 1 || width.dilation != 1)) {
        return Diagnostic{
            .sentence = fmt::format("its dilation is {}x{}", height.dilation, width.dilation),
            .remedy = "pooling windows must not be dilated"};
    }
    if (std::max(layer.padding, *layer.padding_end) >= height.span() ||
        std::max(*layer.padding_width, *layer.padding_width_end) >= width.span()) {
        return Diagnostic{.sentence = "a window lies entirely in the padding",
                          .remedy = "padding must be smaller than the kernel"};
    }
    return std::nullopt;
}

Layer stage_sum(const NumberRange& a, const NumberRange& b, const NumberRange& result) {
    const std::int32_t zeros = stored_zero(a) + stored_zero(b);
    const auto low = static_cast<std::int32_t>(result.low);
    Layer layer;
    layer.kind = LayerKind::Add;
    layer.relu = !uses_all_codes(result);
    LayerNumbers& numbers = layer.numbers.emplace();
    if (layer.relu) {
        numbers.constant = static_cast<std::int16_t>(zeros - low);
    }
    numbers.convertor.offset = stored_zero(result) - (layer.relu ? low : zeros);
    return layer;
}

Layer lower_layer(const GraphView& model, const Candidate& candidate, Diagnostics& problems) {
    Diagnostics own;
    Layer layer = LayerLowering(model, candidate, own).lower();
    problems.insert(problems.end(), own.begin(), own.end());
    return layer;
}

Conversion second_division(const EvenDivision& even, std::int64_t zero) {
    const bool doubled = zero % 2 != 0;
    return {
        .offset = static_cast<std::int32_t>(doubled ? -zero * even.first : -zero * even.first / 2),
        .scale = static_cast<std::int16_t>(even.second),
        .shift = static_cast<unsigned>(even.second_shift + (doubled ? 1 : 0))};
}

}  // namespace npuscope
