// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/compile/tinpu/restriction_check.h"

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

class NumberRules {
 public:
    NumberRules(const RestrictionCheck& check, const Candidate& candidate, Diagnostics& problems)
        : restrictions_(check.restrictions),
          view_(check.model.view),
          candidate_(candidate),
          problems_(problems) {}

    void complain(std::string rule, std::size_t node, std::string value, std::string allowed,
                  std::string nearest, std::string sentence) {
        problems_.push_back({.id = std::move(rule),
                             .sentence = std::move(sentence),
                             .operation = node_name(view_.node(node)),
                             .value = std::move(value),
                             .allowed = std::move(allowed),
                             .nearest = std::move(nearest)});
    }

    void weights() {
        const auto& numbers = candidate_.weights.numbers;
        const auto fraction =
            std::find_if(numbers.begin(), numbers.end(), [](double w) { return !is_whole(w); });
        if (fraction != numbers.end()) {
            complain("weight_integer", candidate_.anchor, number_text(*fraction), "integer",
                     number_text(std::nearbyint(*fraction)), "weights are integers");
            return;
        }
        const std::uint32_t widest =
            restrictions_.weights.empty() ? 8 : restrictions_.weights.back().bits;
        const NumberRange range = signed_range(widest);
        const auto wide = std::find_if(numbers.begin(), numbers.end(),
                                       [&](double w) { return !lies_in(w, range); });
        if (wide != numbers.end()) {
            complain(
                "weight_range", candidate_.anchor, number_text(*wide), range_text(range),
                number_text(std::clamp(*wide, range.low, range.high)),
                fmt::format("weights are signed and fit their width ({} bits at most)", widest));
        }
    }

    void bias(const WeightWidths& widths) {
        if (!candidate_.norm.bias) {
            return;
        }
        const Step& step = *candidate_.norm.bias;
        const NumberRange range = signed_range(widths.bias_bits);
        if (!each_whole(step, "bias_integer", "bias is an integer")) {
            return;
        }
        for (const double number : step.numbers) {
            if (!lies_in(number, range)) {
                complain("bias_range", step.node, number_text(number), range_text(range),
                         number_text(std::clamp(number, range.low, range.high)),
                         fmt::format("bias is a signed {}-bit integer with {}-bit weights",
                                     widths.bias_bits, widths.bits));
                return;
            }
        }
    }

    void scale(const WeightWidths& widths) {
        if (!candidate_.norm.scale) {
            return;
        }
        const Step& step = *candidate_.norm.scale;
        if (!each_whole(step, "scale_integer", "scale is an integer")) {
            return;
        }
        const bool only_one = widths.scale_bits == 0;
        const NumberRange range = only_one ? NumberRange{1, 1} : unsigned_range(widths.scale_bits);
        for (const double number : step.numbers) {
            if (!lies_in(number, range)) {
                complain(only_one ? fmt::format("scale_1_w{}", widths.bits)
                                  : fmt::format("scale_u{}", widths.scale_bits),
                         step.node, number_text(number), only_one ? "1" : range_text(range),
                         number_text(std::clamp(number, range.low, range.high)),
                         only_one
                             ? fmt::format("scale is always 1 with {}-bit weights", widths.bits)
                             : fmt::format("scale is an unsigned {}-bit integer with {}-bit "
                                           "weights",
                                           widths.scale_bits, widths.bits));
                return;
            }
        }
    }

    void shift() {
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
                complain(fmt::format("shift_{}bit", restrictions_.shift_bits), step.node,
                         std::to_string(*exponent), fmt::format("0..{}", most),
                         std::to_string(std::clamp(*exponent, 0, most)),
                         fmt::format("right shift is a {}-bit amount, so that the divisor "
                                     "(div_power_of_two) is {}",
                                     restrictions_.shift_bits, allowed));
                return;
            }
        }
    }

    void clips() {
        const NormSequence& norm = candidate_.norm;
        if (norm.clip && !is_map_range({norm.clip->low, norm.clip->high})) {
            complain(
                "clip_range", norm.clip->node,
                fmt::format("[{}, {}]", number_text(norm.clip->low), number_text(norm.clip->high)),
                allowed_clips(), range_text(nearest_clip(*norm.clip)),
                "clip range must be that of a signed or unsigned integer of a feature map's "
                "width");
        }
        const NumberRange preclip = signed_range(restrictions_.preclip_bits);
        if (norm.preclip && NumberRange{norm.preclip->low, norm.preclip->high} != preclip) {
            complain("preclip_range", norm.preclip->node,
                     fmt::format("[{}, {}]", number_text(norm.preclip->low),
                                 number_text(norm.preclip->high)),
                     range_text(preclip), range_text(preclip),
                     fmt::format("BNORMRES clips to {} before the residual", range_text(preclip)));
        }
    }

    /// 8-bit integers, signed or unsigned, or narrower ones.
    void map(const std::string& rule, std::size_t node, const ValueRange& facts,
             const char* which) {
        if (!facts.whole) {
            complain(rule, node, "not integers", "8-bit integers", "Round, then Clip",
                     fmt::format("{} must be an 8-bit integer feature map", which));
        } else if (!facts.assumed && !fits_bits(facts.range, 8)) {
            complain(rule, node, range_text(facts.range), "-128..127 or 0..255", "Clip",
                     fmt::format("{} must be an 8-bit integer feature map", which));
        }
    }

 private:
    bool each_whole(const Step& step, const char* rule, const char* sentence) {
        for (const double number : step.numbers) {
            if (!is_whole(number)) {
                complain(rule, step.node, number_text(number), "integer",
                         number_text(std::nearbyint(number)), sentence);
                return false;
            }
        }
        return true;
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
    bool is_map_range(const NumberRange& range) const {
        const auto ranges = map_ranges();
        return std::find(ranges.begin(), ranges.end(), range) != ranges.end();
    }
    std::string allowed_clips() const {
        std::string text;
        for (const NumberRange& range : map_ranges()) {
            text += (text.empty() ? "" : ", ") + range_text(range);
        }
        return text;
    }
    NumberRange nearest_clip(const ClipStep& clip) const {
        const auto distance = [&](const NumberRange& range) {
            return std::abs(range.low - clip.low) + std::abs(range.high - clip.high);
        };
        const auto ranges = map_ranges();
        return ranges.empty() ? NumberRange{0, 255}
                              : *std::min_element(ranges.begin(), ranges.end(),
                                                  [&](const auto& a, const auto& b) {
                                                      return distance(a) < distance(b);
                                                  });
    }

    const Restrictions& restrictions_;
    const GraphView& view_;
    const Candidate& candidate_;
    Diagnostics& problems_;
};

/// Tool 1.2 tied the width of a bias to the feature map: 8 bits as with 8-bit weights.
WeightWidths widths_by(const RestrictionCheck& check, const Candidate& candidate,
                       WeightWidths widths) {
    if (check.restrictions.bias_width == BiasWidth::FeatureMap) {
        const auto facts = check.model.facts.find(candidate.input);
        const bool narrow = facts != check.model.facts.end() && fits_bits(facts->second.range, 4);
        for (const WeightWidths& row : check.restrictions.weights) {
            if (row.bits == (narrow ? 4U : 8U)) {
                widths.bias_bits = row.bias_bits;
            }
        }
    }
    return widths;
}

}  // namespace

NumberRange weight_range(const GraphValue& weights) {
    NumberRange range{0, 0};
    for (const double number : weights.numbers) {
        range = {std::min(range.low, number), std::max(range.high, number)};
    }
    return range;
}

void check_weights(const RestrictionCheck& check, const Candidate& candidate,
                   Diagnostics& problems) {
    NumberRules(check, candidate, problems).weights();
}

void check_sequence(const RestrictionCheck& check, const Candidate& candidate,
                    const WeightWidths& widths, Diagnostics& problems) {
    NumberRules rules(check, candidate, problems);
    if (candidate.pattern == Pattern::Maxpool) {
        return;
    }
    if (widths.bits == 4 && !candidate.is_pool() &&
        check.restrictions.four_bit_weights == Verdict::Refuse) {
        rules.complain("weight_4bit", candidate.anchor, "4-bit", "2-bit or 8-bit", "8-bit",
                       "weights are 2-bit or 8-bit");
    }
    rules.bias(widths_by(check, candidate, widths));
    rules.scale(widths);
    rules.shift();
    rules.clips();
}

void check_maps(const RestrictionCheck& check, const Candidate& candidate, Diagnostics& problems) {
    NumberRules rules(check, candidate, problems);
    const auto facts = check.model.facts.find(candidate.input);
    if (facts != check.model.facts.end()) {
        rules.map("input_8bit", candidate.anchor, facts->second, "its input");
    }
    const auto residual = check.model.facts.find(candidate.norm.residual);
    if (residual != check.model.facts.end()) {
        rules.map("residual_8bit", candidate.norm.residual_node, residual->second, "the residual");
    }
}

}  // namespace npuscope
