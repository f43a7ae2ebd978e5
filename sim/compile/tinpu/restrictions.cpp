// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/tinpu/restrictions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "models/base/rule_ids.h"
#include "sim/compile/tinpu/nearest_legal.h"

namespace npuscope {
namespace {

double power_of_two(std::uint32_t exponent) { return std::ldexp(1.0, static_cast<int>(exponent)); }

bool is_whole(double number) { return std::isfinite(number) && number == std::trunc(number); }

std::string number_text(double number) {
    return is_whole(number) && std::abs(number) < 1e15 ? fmt::format("{:.0f}", number)
                                                       : fmt::format("{}", number);
}

std::string range_text(const NumberRange& range) {
    return fmt::format("{}..{}", number_text(range.low), number_text(range.high));
}

NumberRange signed_range(std::uint32_t bits) {
    return {-power_of_two(bits - 1), power_of_two(bits - 1) - 1};
}
NumberRange unsigned_range(std::uint32_t bits) { return {0, power_of_two(bits) - 1}; }

bool lies_in(double number, const NumberRange& range) {
    return number >= range.low && number <= range.high;
}

/// Exponent of a power of two, whatever its sign; nothing for other numbers.
std::optional<int> exponent_of(double number) {
    int exponent = 0;
    const double fraction = std::frexp(number, &exponent);
    return number > 0 && fraction == 0.5 ? std::optional(exponent - 1) : std::nullopt;
}

/// Checks one layer against every rule.
class LayerRules {
 public:
    LayerRules(const GraphView& model, const Restrictions& restrictions, const Candidate& candidate)
        : model_(model),
          restrictions_(restrictions),
          candidate_(candidate),
          problems_(candidate.problems) {}

    CheckedLayer check() {
        if (const auto node = candidate_.norm.to_even) {
            problems_.push_back(broken_rule(model_.node(*node), rule_ids::floor_required,
                                            model_.node(*node).op, "Floor",
                                            "BNORM needs Floor after the shift"));
        }
        check_points();
        check_directions();
        check_batch();
        check_groups();
        check_channels();
        check_strides();
        check_kernel();
        check_residual();
        check_map("input_8bit", candidate_.anchor, candidate_.input, "its input");
        check_map("residual_8bit", candidate_.norm.residual_node, candidate_.norm.residual,
                  "the residual");
        if (candidate_.is_pool()) {
            check_sequence(restrictions_.pooling);
            return {0, std::move(problems_)};
        }
        const NumberRange range = weight_range();
        check_weights();
        const Diagnostics common = problems_;
        std::optional<CheckedLayer> narrowest;
        for (const WeightWidths& widths : restrictions_.weights) {
            const bool last = &widths == &restrictions_.weights.back();
            const NumberRange fitting = signed_range(widths.bits);
            if ((range.low < fitting.low || range.high > fitting.high) && !last) {
                continue;
            }
            problems_ = common;
            check_sequence(widths);
            check_fc_inputs(widths);
            if (problems_.size() == common.size()) {
                return {widths.bits, std::move(problems_)};
            }
            if (!narrowest) {
                narrowest = {widths.bits, problems_};
            }
        }
        return narrowest ? *std::move(narrowest) : CheckedLayer{0, common};
    }

 private:
    void complain(std::string rule, std::size_t node, std::string value, std::string allowed,
                  std::string nearest, std::string sentence) {
        problems_.push_back({.id = std::move(rule),
                             .sentence = std::move(sentence),
                             .operation = node_name(model_.node(node)),
                             .value = std::move(value),
                             .allowed = std::move(allowed),
                             .nearest = std::move(nearest)});
    }
    /// At the layer's anchor.
    void complain(std::string rule, std::string value, std::string allowed, std::string nearest,
                  std::string sentence) {
        complain(std::move(rule), candidate_.anchor, std::move(value), std::move(allowed),
                 std::move(nearest), std::move(sentence));
    }

    /// Zero points and offsets that other NPUs subtract and add.
    void check_points() {
        if (candidate_.input_zero != 0) {
            complain(rule_ids::input_zero_point, fmt::format("{:g}", candidate_.input_zero), "0",
                     "0", "the input has a zero point that is not 0");
        }
        if (candidate_.norm.offset) {
            const std::size_t scale =
                candidate_.norm.scale ? candidate_.norm.scale->node : candidate_.norm.divisor->node;
            complain(rule_ids::sequence_order, scale, "", "Add, Mul, Div, Floor, Clip",
                     "Add, Mul, Div, Floor, Clip",
                     fmt::format("{} comes before {}; the order is Add, Mul, Div, Floor, Clip",
                                 node_text(model_.node(scale)),
                                 node_text(model_.node(candidate_.norm.offset->node))));
        }
    }

    /// Bias, scale, shift and clips, with the widths that go with the layer's weights.
    void check_sequence(const WeightWidths& widths) {
        if (candidate_.pattern == Pattern::Maxpool) {
            return;
        }
        if (widths.bits == 4 && !candidate_.is_pool() &&
            restrictions_.four_bit_weights == Verdict::Refuse) {
            complain("weight_4bit", "4-bit", "2-bit or 8-bit", "8-bit",
                     "weights must be 2-bit or 8-bit");
        }
        check_bias(widths_by(widths));
        check_scale(widths);
        check_shift();
        check_clips();
    }

    void check_directions() {
        const std::size_t sizes =
            model_.sizes(model_.node(candidate_.anchor).inputs.front()).size();
        if (candidate_.pattern != Pattern::Fc && sizes != 4) {
            complain("conv_2d", fmt::format("{}-d", sizes - 2), "2-d", "2-d, with a height of 1",
                     "convolutions and pools must be 2-d");
        }
    }

    void check_batch() {
        if (candidate_.in[0] != restrictions_.batch) {
            const std::string batch = std::to_string(restrictions_.batch);
            complain(fmt::format("batch_{}", batch), std::to_string(candidate_.in[0]), batch, batch,
                     fmt::format("batch size must be {}", batch));
        }
    }

    void check_groups() {
        const bool grouped =
            candidate_.pattern == Pattern::Fconv || candidate_.pattern == Pattern::Gconv ||
            candidate_.pattern == Pattern::Pwconv || candidate_.pattern == Pattern::Pwconvres ||
            candidate_.pattern == Pattern::Tconv;
        if (grouped && candidate_.groups != 1) {
            complain("groups_1", std::to_string(candidate_.groups), "1",
                     fmt::format("1, or {} (depthwise)", candidate_.in[1]),
                     "groups must be 1, or equal to both channels and kernels (depthwise)");
        }
    }

    void check_multiple(std::int64_t channels, std::uint32_t multiple, const char* which) {
        if (multiple <= 1 || channels % multiple == 0) {
            return;
        }
        const std::int64_t step = multiple;
        const std::int64_t above = (channels + step - 1) / step * step;
        complain(fmt::format("channels_multiple_of_{}", multiple), std::to_string(channels),
                 fmt::format("multiple of {}", multiple), std::to_string(above),
                 fmt::format("{} channels must be multiples of {}", which, multiple));
    }

    void check_channels() {
        const PatternLimits* limits = limits_of(restrictions_.patterns);
        if (limits == nullptr) {
            return;
        }
        const bool padded =
            candidate_.pattern == Pattern::Gconv && restrictions_.padded_channels == Verdict::Allow;
        const bool same = candidate_.in[1] == candidate_.out[1] &&
                          limits->input_channels == limits->output_channels;
        if (same && !padded) {
            check_multiple(candidate_.in[1], limits->input_channels, "input and output");
            return;
        }
        if (!padded) {
            check_multiple(candidate_.in[1], limits->input_channels, "input");
        }
        check_multiple(candidate_.out[1], limits->output_channels, "output");
    }

    static std::string pair(std::int64_t rows, std::int64_t columns) {
        return fmt::format("{}x{}", rows, columns);
    }

    void check_strides() {
        const WindowAxis height = candidate_.window.height();
        const WindowAxis width = candidate_.window.width();
        if (candidate_.pattern == Pattern::Tconv &&
            (height.stride != height.kernel || width.stride != width.kernel)) {
            complain("tconv_stride_eq_kernel",
                     fmt::format("kernel {}, strides {}", pair(height.kernel, width.kernel),
                                 pair(height.stride, width.stride)),
                     "stride = kernel",
                     fmt::format("strides {}", pair(height.kernel, width.kernel)),
                     "TCONV stride must equal its kernel");
        }
        const bool dilated = height.dilation != 1 || width.dilation != 1;
        if (dilated && restrictions_.dilation == Verdict::Refuse) {
            complain("dilation_1", pair(height.dilation, width.dilation), "1x1", "1x1",
                     "dilated kernels are not supported");
        }
    }

    void check_kernel() {
        check_limits(limits_of(restrictions_.patterns));
        if (restrictions_.beyond_guidelines == Verdict::Refuse) {
            check_limits(limits_of(restrictions_.guidelines));
        }
    }

    void check_limits(const PatternLimits* limits) {
        if (limits == nullptr) {
            return;
        }
        const WindowAxis height = candidate_.window.height();
        const WindowAxis width = candidate_.window.width();
        const bool rows = limits->most_rows == 0 || height.kernel <= limits->most_rows;
        const bool columns = limits->most_columns == 0 || width.kernel <= limits->most_columns;
        if (limits->one_side ? !rows && !columns : !rows || !columns) {
            const auto text = [](std::uint32_t most) {
                return most == 0 ? std::string("any") : std::to_string(most);
            };
            complain("kernel_limit", pair(height.kernel, width.kernel),
                     fmt::format("at most {} x {}{}", text(limits->most_rows),
                                 text(limits->most_columns),
                                 limits->one_side ? " (one of the two suffices)" : ""),
                     nearest_kernel(*limits, height.kernel, width.kernel),
                     "the kernel is larger than the hardware supports");
        }
        const std::string strides = pair(height.stride, width.stride);
        if (!limits->strides.empty() &&
            std::ranges::find(limits->strides, strides) == limits->strides.end()) {
            complain("stride_limit", strides, fmt::format("{}", fmt::join(limits->strides, ", ")),
                     nearest_strides(limits->strides, height.stride, width.stride),
                     "these strides (rows x columns) are not supported");
        }
        const std::int64_t area = candidate_.window.kernel_area();
        if (area < limits->least_area) {
            complain("window_area", std::to_string(area),
                     fmt::format("at least {}", limits->least_area),
                     std::to_string(limits->least_area), "the window has too few elements");
        }
    }

    void check_residual() {
        const std::string& residual = candidate_.norm.residual;
        if (residual.empty()) {
            return;
        }
        const std::size_t node = candidate_.norm.residual_node;
        if (candidate_.pattern != Pattern::Pwconvres) {
            complain("residual_pointwise", node, std::string(enum_name(candidate_.pattern)),
                     "1x1 convolution", "1x1 convolution",
                     "only a point-wise convolution supports a residual");
        }
        const Sizes& result = model_.sizes(joined_result(model_, candidate_.norm));
        if (model_.sizes(residual) != result) {
            complain("residual_shape", node, sizes_text(model_.sizes(residual)), sizes_text(result),
                     sizes_text(result), "the residual must have the shape of the output");
        }
    }

    /// What a layer's values must be: integers of a range.
    struct IntegerRule {
        const char* whole;           ///< rule that they are integers
        const char* whole_sentence;  ///< its sentence
        std::string id{};            ///< rule of the range
        NumberRange range{};
        std::string sentence{};
        double least = range.low;  ///< that is worth recommending
    };
    void check_integers(std::size_t node, const std::vector<double>& numbers, IntegerRule rule) {
        if (const auto fraction = std::ranges::find_if_not(numbers, is_whole);
            fraction != numbers.end()) {
            complain(rule.whole, node, number_text(*fraction), "integer",
                     number_text(std::max(std::nearbyint(*fraction), rule.least)),
                     rule.whole_sentence);
            return;
        }
        const NumberRange& range = rule.range;
        const auto outside = std::ranges::find_if_not(
            numbers, [&](double number) { return lies_in(number, range); });
        if (outside != numbers.end()) {
            complain(std::move(rule.id), node, number_text(*outside),
                     range.low == range.high ? number_text(range.low) : range_text(range),
                     number_text(std::clamp(*outside, rule.least, range.high)),
                     std::move(rule.sentence));
        }
    }

    void check_weights() {
        const std::uint32_t widest =
            restrictions_.weights.empty() ? 8 : restrictions_.weights.back().bits;
        check_integers(
            candidate_.anchor, candidate_.weights.numbers,
            {"weight_integer", "weights must be integers", "weight_range", signed_range(widest),
             fmt::format("weights must be signed integers of at most {} bits", widest)});
    }

    std::string place_of(const WeightWidths& widths) const {
        return candidate_.is_pool() ? "in a pool" : fmt::format("with {}-bit weights", widths.bits);
    }

    void check_bias(const WeightWidths& widths) {
        if (const std::optional<Step>& bias = candidate_.norm.bias) {
            check_integers(bias->node, bias->numbers,
                           {"bias_integer", "bias must be an integer", "bias_range",
                            signed_range(widths.bias_bits),
                            fmt::format("bias must be a signed {}-bit integer {}", widths.bias_bits,
                                        place_of(widths))});
        }
    }

    void check_scale(const WeightWidths& widths) {
        const std::optional<Step>& scale = candidate_.norm.scale;
        if (!scale) {
            return;
        }
        IntegerRule rule{.whole = "scale_integer",
                         .whole_sentence = "scale must be an integer",
                         .least = 1};  // a scale of 0 makes all results equal
        if (widths.scale_bits == 0) {
            rule.id = fmt::format("scale_1_w{}", widths.bits);
            rule.range = {1, 1};
            rule.sentence = fmt::format("scale must be 1 {}", place_of(widths));
        } else {
            rule.id = fmt::format("scale_u{}", widths.scale_bits);
            rule.range = unsigned_range(widths.scale_bits);
            rule.sentence = fmt::format("scale must be an unsigned {}-bit integer {}",
                                        widths.scale_bits, place_of(widths));
        }
        check_integers(scale->node, scale->numbers, std::move(rule));
    }

    void check_shift() {
        if (!candidate_.norm.divisor) {
            return;
        }
        const Step& step = *candidate_.norm.divisor;
        const int most = static_cast<int>((std::uint32_t{1} << restrictions_.shift_bits) - 1);
        const std::string allowed = fmt::format("2^0..2^{}", most);
        for (const double divisor : step.numbers) {
            const auto exponent = exponent_of(divisor);
            if (!exponent) {
                const double near = divisor > 0 ? std::nearbyint(std::log2(divisor)) : 0;
                complain("div_power_of_two", step.node, number_text(divisor), allowed,
                         fmt::format("2^{}", std::clamp(near, 0.0, static_cast<double>(most))),
                         "divisor must be 2^n");
                return;
            }
            if (*exponent < 0 || *exponent > most) {
                complain(
                    fmt::format("shift_{}bit", restrictions_.shift_bits), step.node,
                    std::to_string(*exponent), fmt::format("0..{}", most),
                    std::to_string(std::clamp(*exponent, 0, most)),
                    fmt::format(
                        "right shift must fit {} bits: the divisor (div_power_of_two) must be {}",
                        restrictions_.shift_bits, allowed));
                return;
            }
        }
    }

    void check_clips() {
        const NormSequence& norm = candidate_.norm;
        const auto range_of_clip = [](const ClipStep& clip) {
            return fmt::format("[{}, {}]", number_text(clip.low), number_text(clip.high));
        };
        const std::vector<NumberRange> ranges = map_ranges();
        const NumberRange wanted =
            norm.clip ? NumberRange{norm.clip->low, norm.clip->high} : NumberRange{};
        if (norm.clip && std::ranges::find(ranges, wanted) == ranges.end()) {
            std::vector<std::string> allowed;
            std::ranges::transform(ranges, std::back_inserter(allowed), range_text);
            complain("clip_range", norm.clip->node, range_of_clip(*norm.clip),
                     fmt::format("{}", fmt::join(allowed, ", ")),
                     ranges.empty() ? "0..255" : range_text(nearest_range(ranges, wanted)),
                     "clip range must be that of a signed or unsigned integer of a feature map's "
                     "width");
        }
        const NumberRange preclip = signed_range(restrictions_.preclip_bits);
        if (norm.preclip && NumberRange{norm.preclip->low, norm.preclip->high} != preclip) {
            complain(
                "preclip_range", norm.preclip->node, range_of_clip(*norm.preclip),
                range_text(preclip), range_text(preclip),
                fmt::format("BNORMRES must clip to {} before the residual", range_text(preclip)));
        }
    }

    /// 8-bit integers, signed or unsigned, or narrower ones.
    void check_map(const char* rule, std::size_t node, const std::string& tensor,
                   const char* which) {
        const ValueRange* known = model_.range(tensor);
        if (known == nullptr) {
            return;
        }
        const std::string sentence = fmt::format("{} must be an 8-bit integer feature map", which);
        if (!known->whole) {
            complain(rule, node, "not integers", "8-bit integers", "Round, then Clip", sentence);
        } else if (known->assumed ? known->range.low < -128 || known->range.high > 255
                                  : !fits_bits(known->range, 8)) {
            complain(rule, node, range_text(known->range), "-128..127 or 0..255", "Clip", sentence);
        }
    }

    /// The guideline for FC, which depends on the width of the weights.
    void check_fc_inputs(const WeightWidths& widths) {
        const std::int64_t inputs = candidate_.in[1] * candidate_.in[2] * candidate_.in[3];
        const bool limited =
            candidate_.pattern == Pattern::Fc && restrictions_.beyond_guidelines == Verdict::Refuse;
        if (limited && inputs < widths.least_fc_inputs) {
            const std::string least = std::to_string(widths.least_fc_inputs);
            complain("fc_inputs", std::to_string(inputs), "at least " + least, least,
                     fmt::format("FC has too few inputs for {}-bit weights", widths.bits));
        }
    }

    /// The row of the layer's pattern; null where it has no limits.
    const PatternLimits* limits_of(const std::vector<PatternLimits>& rows) const {
        const auto row = std::ranges::find(rows, candidate_.pattern, &PatternLimits::pattern);
        return row == rows.end() ? nullptr : &*row;
    }

    /// Range of all weights; 0..0 where there are none.
    NumberRange weight_range() const {
        NumberRange range{0, 0};
        for (const double number : candidate_.weights.numbers) {
            range = {std::min(range.low, number), std::max(range.high, number)};
        }
        return range;
    }

    /// Tool 1.2 tied the width of a bias to the feature map: 8 bits as with 8-bit weights.
    WeightWidths widths_by(WeightWidths widths) const {
        if (restrictions_.bias_width == BiasWidth::FeatureMap) {
            const ValueRange* known = model_.range(candidate_.input);
            const bool narrow = known != nullptr && fits_bits(known->range, 4);
            for (const WeightWidths& row : restrictions_.weights) {
                if (row.bits == (narrow ? 4U : 8U)) {
                    widths.bias_bits = row.bias_bits;
                }
            }
        }
        return widths;
    }

    std::vector<NumberRange> map_ranges() const {
        std::vector<NumberRange> ranges;
        for (const std::uint32_t bits : restrictions_.clip_bits) {
            if (restrictions_.narrow_maps == Verdict::Allow || bits >= 8) {
                ranges.push_back(signed_range(bits));
                ranges.push_back(unsigned_range(bits));
            }
        }
        return ranges;
    }
    const GraphView& model_;
    const Restrictions& restrictions_;
    const Candidate& candidate_;
    Diagnostics problems_;
};

}  // namespace

CheckedLayer check_restrictions(const GraphView& model, const Restrictions& restrictions,
                                const Candidate& candidate) {
    return LayerRules(model, restrictions, candidate).check();
}

}  // namespace npuscope
