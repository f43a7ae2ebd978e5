// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "sim/model/quantised_form.h"

namespace npuscope {
namespace {

constexpr double largest_ratio = 16384;  // of the two maps' scales
constexpr double least_ratio = 0.25;     // below which a shifted map would have more than 25 bits
constexpr int factor_bits = 14;          // of the factor of the map with the larger scale
constexpr int least_shift = 26;          // sums have 25 bits: none of them lies halfway
constexpr int most_sum_gain = 63;        // multiplied sums have 31 bits
constexpr int least_gain_shift = 32;     // the same for these
constexpr double largest_left = 64;      // for maps that are only shifted
constexpr int most_shift = 60;           // source: NVDLA_SDP.rdl, CVT_SHIFT

/// An operand with the possible values of its integers.
struct Term : ScaledMap {
    NumberRange codes{};
    double high = 0;  ///< upper limit of its integers, as far as their producer determines it

    /// A map's largest integer is stored as 127: the integer that is then stored as 0.
    std::int64_t stored_zero() const { return to_integer(high) - 127; }
    /// Whether it is the zero point.
    bool stores_zero() const { return high - zero == 127; }
};

Term term_of(const GraphView& view, const ScaledMap& map) {
    const NumberRange codes = range_of(map.type);
    return {map, codes, high_of(view, map.tensor).value_or(codes.high)};
}

/// Two integers whose sum, as computed by a runtime, is so close to a tie that rounded scales may
/// move it across, and the weight of the pair.
struct NearTie {
    double large = 0;
    double small = 0;
    double result = 0;
    double weight = 0;
};

/// Roles in a sum: the map that is multiplied, and the one that is shifted.
struct SumOrder {
    const Term& multiplied;
    const Term& shifted;
    const Requantised& end;
};

/// Weight of a code; a map's integers are assumed to have a standard deviation of 40 steps.
double weight_of(double code) {
    constexpr double deviation = 40;
    return std::exp(-code * code / (2 * deviation * deviation));
}

/// One of a map's integers, as a float, and how often it occurs.
struct Code {
    double code = 0;
    double real = 0;
    double weight = 0;
};

std::array<Code, 256> codes_of(const Term& term) {
    std::array<Code, 256> codes;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        const double code = term.codes.low + static_cast<double>(i);
        const double steps = code - term.zero;
        codes[i] = {code, rounded_float(steps * term.scale), weight_of(steps)};
    }
    return codes;
}

std::vector<NearTie> near_ties(const Term& large, const Term& small, const Requantised& end) {
    constexpr double near = 0.02;  // twice the effect of a 14-bit factor
    const std::array<Code, 256> second = codes_of(small);
    std::vector<NearTie> ties;
    double all = 0;
    for (const Code& a : codes_of(large)) {
        for (const Code& b : second) {
            const double real = rounded_float(rounded_float(a.real + b.real) / end.scale);
            all += a.weight * b.weight;
            if (std::abs(real - std::floor(real) - 0.5) < near) {
                const double result = std::nearbyint(real) + end.zero;
                ties.push_back(
                    {a.code, b.code, std::clamp(result, end.low, end.high), a.weight * b.weight});
            }
        }
    }
    for (NearTie& tie : ties) {
        tie.weight /= all;
    }
    return ties;
}

/// Whether saturation by itself does not clip at the zero point.
bool needs_relu(const Requantised& end) { return end.low == end.zero && end.high - end.low < 255; }

/// How the second map enters the sum.
enum class SumWay { Shifted, ReadTwice, Multiplied };

/// The second map's multiplier if the first one is multiplied by the factor.
double shifted_factor(const ScaledSum& sum) {
    if (sum.other != 0) {
        return static_cast<double>(sum.other);
    }
    const double again =
        sum.reads_twice ? std::ldexp(static_cast<double>(sum.factor), static_cast<int>(sum.before))
                        : 0;
    return std::ldexp(1.0, static_cast<int>(sum.left)) + again;
}

/// The sum for each gain with the odd scale closest to `wanted`, if no sum lies halfway.
void add_scales(ScaledSum sum, double wanted, const SumOrder& order, std::vector<ScaledSum>& sums) {
    const Requantised& end = order.end;
    constexpr double most_code = 255;
    const double second = std::ldexp(1.0, static_cast<int>(sum.left));
    const double again = sum.reads_twice ? std::ldexp(1.0, static_cast<int>(sum.before)) : 0;
    const double reach =
        (std::abs(static_cast<double>(sum.factor)) * (1 + again) + second) * most_code;
    const int most =
        static_cast<int>(std::min<double>(most_sum_gain, std::floor(0x1p31 / reach)) - 1);
    for (int gain = 1; gain <= most; ++gain) {
        const double part = std::abs(wanted) / gain;
        const int shift = shift_before(part);
        const std::int64_t scale = to_integer(std::nearbyint(std::ldexp(part, shift))) | 1;
        const int least = gain == 1 && !sum.reads_twice ? least_shift : least_gain_shift;
        if (shift < least || shift > most_shift || scale > to_integer(largest_scale)) {
            continue;
        }
        sum.gain = wanted < 0 ? -gain : gain;
        sum.scale = scale;
        sum.shift = shift;
        sum.offset =
            to_integer(std::nearbyint(std::ldexp(end.zero - static_cast<double>(sum.zero), shift) /
                                      static_cast<double>(scale)));
        const std::int64_t subtracted =
            sum.subtracted(order.multiplied.stored_zero(), order.shifted.stored_zero());
        if (std::abs(subtracted) <= std::numeric_limits<std::int32_t>::max()) {
            sums.push_back(sum);
        }
    }
}

/// Maximum error of a sum: each map's value times the error of its factor, added up.
double most_off(const ScaledSum& sum, const SumOrder& order) {
    const double all_codes = 255;
    const double unit =
        std::ldexp(static_cast<double>(sum.scale * sum.gain), static_cast<int>(-sum.shift));
    const double first =
        static_cast<double>(sum.factor) * unit - order.multiplied.scale / order.end.scale;
    const double second = shifted_factor(sum) * unit - order.shifted.scale / order.end.scale;
    const double offset =
        static_cast<double>(sum.scale) / std::ldexp(1.0, static_cast<int>(sum.shift));
    return (std::abs(first) + std::abs(second)) * all_codes + offset / 2;
}

/// The sum with this factor and its neighbours, each with the scales that are exact for either map,
/// and their mean.
void add_factors(ScaledSum sum, double factor, const SumOrder& order,
                 std::vector<ScaledSum>& sums) {
    const auto& [multiplied, shifted, end] = order;
    const std::int64_t nearest = to_integer(std::nearbyint(factor));
    for (std::int64_t number = nearest - 1; number <= nearest + 1; ++number) {
        if (number == 0 || std::abs(number) > to_integer(largest_scale)) {
            continue;
        }
        sum.factor = number;
        const double first = multiplied.scale / end.scale / static_cast<double>(number);
        const double second = shifted.scale / end.scale / shifted_factor(sum);
        for (const double wanted : {first, (first + second) / 2, second}) {
            if (wanted != 0 && std::isfinite(wanted)) {
                add_scales(sum, wanted, order, sums);
            }
        }
    }
}

/// The second map only shifted: the ratio of the maps is that of the factor to a power of two.
void add_sums(const ScaledSum& common, const SumOrder& order, std::vector<ScaledSum>& sums) {
    const double ratio = order.multiplied.scale / order.shifted.scale;
    if (!(ratio > least_ratio && ratio < largest_ratio)) {
        return;
    }
    ScaledSum sum = common;
    sum.left = std::max(factor_bits - std::ilogb(ratio), 0);
    if (std::nearbyint(std::ldexp(ratio, static_cast<int>(sum.left))) > largest_scale) {
        --sum.left;  // for a ratio just below a power of two
    }
    add_factors(sum, std::ldexp(ratio, static_cast<int>(sum.left)), order, sums);
}

/// The second map read twice: its factor is a power of two plus the contribution of the last shift.
void add_sums_of_two_reads(const ScaledSum& common, const SumOrder& order,
                           std::vector<ScaledSum>& sums) {
    constexpr int most_before = 7;  // 8 bits, multiplied by 15 within 31
    const double ratio = order.shifted.scale / order.multiplied.scale;
    for (int before = 0; before <= most_before; ++before) {
        const double rest = ratio - std::ldexp(1.0, before);
        if (rest == 0 || std::abs(rest) > ratio) {
            continue;
        }
        ScaledSum sum = common;
        sum.reads_twice = true;
        sum.before = before;
        sum.left = std::ilogb(std::abs(rest) * largest_scale);
        if (sum.left >= 0) {
            add_factors(sum, std::ldexp(1.0, static_cast<int>(sum.left)) / rest, order, sums);
        }
    }
}

/// A separate factor for each map, for every odd 15-bit scale: for one of them both factors are
/// nearly integers.
void add_sums_of_two_factors(const ScaledSum& common, const SumOrder& order,
                             std::vector<ScaledSum>& sums) {
    const double first = order.multiplied.scale / order.end.scale;
    const double second = order.shifted.scale / order.end.scale;
    constexpr double most_steps = 255;
    constexpr double most_results = 8192;  // half of the smallest scale: no sum lies halfway
    if (!((first + second + 1) * most_steps < most_results)) {
        return;
    }
    for (int scale = 16385; scale <= to_integer(largest_scale); scale += 2) {
        ScaledSum sum = common;
        sum.scale = scale;
        sum.shift = shift_before(std::max(first, second) / scale);
        sum.factor =
            to_integer(std::nearbyint(std::ldexp(first / scale, static_cast<int>(sum.shift))));
        sum.other =
            to_integer(std::nearbyint(std::ldexp(second / scale, static_cast<int>(sum.shift))));
        const double unit = std::ldexp(1.0, static_cast<int>(sum.shift)) / scale;
        const double reach = (first + second + 1) * most_steps * unit;
        if (sum.shift > most_shift || reach > 0x1p31 || sum.factor == 0 || sum.other == 0) {
            continue;
        }
        sum.offset =
            to_integer(std::nearbyint((order.end.zero - static_cast<double>(sum.zero)) * unit));
        sums.push_back(sum);
    }
}

/// The sums of one order with the smallest possible deviations, most exact first.
std::vector<ScaledSum> likely_sums(const SumOrder& order, SumWay way) {
    constexpr std::size_t most_sums = 64;
    ScaledSum sum;
    sum.a_zero = to_integer(order.multiplied.zero);
    sum.b_zero = to_integer(order.shifted.zero);
    sum.low = order.end.low;
    sum.high = order.end.high;
    sum.zero = to_integer(order.end.high) - 127;
    sum.relu = needs_relu(order.end);
    std::vector<ScaledSum> sums;
    if (sum.relu || order.end.high - order.end.low == 255) {
        way == SumWay::Shifted     ? add_sums(sum, order, sums)
        : way == SumWay::ReadTwice ? add_sums_of_two_reads(sum, order, sums)
                                   : add_sums_of_two_factors(sum, order, sums);
    }
    std::ranges::stable_sort(sums, {}, [&](const ScaledSum& one) { return most_off(one, order); });
    sums.resize(std::min(sums.size(), most_sums));
    return sums;
}

/// Finds the sum with the smallest deviation, in either order.
class NearestSum {
 public:
    NearestSum(const Term& large, const Term& small, const Requantised& end)
        : large_(large), small_(small), end_(end), ties_(near_ties(large, small, end)) {}

    std::optional<IntegerForm> find(const SumStages& stages) {
        std::vector<SumWay> ways{SumWay::Shifted};
        if (stages.twice) {
            ways.push_back(SumWay::ReadTwice);
        }
        if (stages.third) {
            ways.push_back(SumWay::Multiplied);
        }
        for (const SumWay way : ways) {
            for (const bool swapped : {false, true}) {
                keep_nearest(swapped, way);
            }
        }
        return std::move(best_);
    }

 private:
    /// Checks sums of one order on the near ties, and keeps the one that differs least. Before a
    /// ReLU, shifted maps' zero points are not corrected to the stored ones.
    void keep_nearest(bool swapped, SumWay way) {
        const SumOrder order{swapped ? small_ : large_, swapped ? large_ : small_, end_};
        const bool zeros = way == SumWay::Multiplied ||
                           (order.shifted.stores_zero() &&
                            (way != SumWay::ReadTwice || order.multiplied.stores_zero()));
        if (needs_relu(end_) && !zeros) {
            return;
        }
        for (const ScaledSum& sum : likely_sums(order, way)) {
            if (best_ && best_->deviation->expected == 0) {
                return;
            }
            double differ = 0;
            for (const NearTie& tie : ties_) {
                const double result =
                    swapped ? sum.of(tie.small, tie.large) : sum.of(tie.large, tie.small);
                differ += result == tie.result ? 0 : tie.weight;
            }
            if (!best_ || differ < best_->deviation->expected) {
                best_ = {scaled_sum_node(sum, order.multiplied.tensor, order.shifted.tensor, end_),
                         end_.nodes, Deviation{false, most_off(sum, order), differ}};
            }
        }
    }

    const Term& large_;
    const Term& small_;
    const Requantised& end_;
    std::vector<NearTie> ties_;
    std::optional<IntegerForm> best_;
};

/// Exactly the model's results: `b` is the map with the larger scale. If there is a division, the
/// offset of its last multiplication is half a step per unit of the zero, which must be even.
std::optional<ScaledSum> even_sum(const Term& small, const Term& large, const Requantised& end) {
    const double ratio = large.scale / small.scale;
    const double unit = end.scale / small.scale;
    if (!is_power_of_two(ratio) || !is_power_of_two(unit) || unit < 1 || ratio > largest_left) {
        return std::nullopt;
    }
    ScaledSum sum;
    sum.to_even = true;
    sum.a_zero = to_integer(small.zero);
    sum.b_zero = to_integer(large.zero);
    sum.left = std::ilogb(ratio);
    sum.shift = std::ilogb(unit);
    sum.zero = to_integer(end.high) - 127;
    sum.offset = to_integer(end.zero) - sum.zero;
    sum.low = end.low;
    sum.high = end.high;
    sum.relu = needs_relu(end);
    const bool clips_itself = sum.relu || end.high - end.low == 255;
    const bool divides =
        sum.offset % 2 == 0 && even_division(static_cast<int>(sum.shift), 1).has_value();
    const bool possible = clips_itself && (sum.shift == 0 || divides);
    return possible ? std::optional(sum) : std::nullopt;
}

constexpr std::array sum_numbers{
    std::pair{"a_zero", &ScaledSum::a_zero}, std::pair{"b_zero", &ScaledSum::b_zero},
    std::pair{"factor", &ScaledSum::factor}, std::pair{"left", &ScaledSum::left},
    std::pair{"other", &ScaledSum::other},   std::pair{"before", &ScaledSum::before},
    std::pair{"gain", &ScaledSum::gain},     std::pair{"offset", &ScaledSum::offset},
    std::pair{"scale", &ScaledSum::scale},   std::pair{"shift", &ScaledSum::shift},
    std::pair{"zero", &ScaledSum::zero}};

}  // namespace

double ScaledSum::of(double a, double b) const {
    const std::int64_t second = to_integer(b) - b_zero;
    const std::int64_t first = to_integer(a) - a_zero + (reads_twice ? second << before : 0);
    std::int64_t sum = (first * factor + (other != 0 ? second * other : second << left)) * gain;
    sum = relu ? std::max<std::int64_t>(sum, 0) : sum;
    if (to_even) {
        const double result =
            std::nearbyint(std::ldexp(static_cast<double>(sum), -static_cast<int>(shift)));
        return std::clamp(result + static_cast<double>(offset + zero), low, high);
    }
    const std::int64_t half = std::int64_t{1} << (shift - 1);
    const std::int64_t result = (((sum + offset) * scale + half) >> shift) + zero;
    return std::clamp(static_cast<double>(result), low, high);
}

std::int64_t ScaledSum::subtracted(std::int64_t a_stored, std::int64_t b_stored) const {
    const std::int64_t b_moved = b_zero - b_stored;
    std::int64_t lost = other != 0 ? 0 : b_moved * (std::int64_t{1} << left);
    if (reads_twice) {  // no stage is left that adds constants
        lost += (a_zero - a_stored + b_moved * (std::int64_t{1} << before)) * factor;
    }
    return lost * gain - offset;
}

GraphNode scaled_sum_node(const ScaledSum& sum, const std::string& a, const std::string& b,
                          const Requantised& end) {
    GraphNode node{scaled_sum_op, {}, {a, b}, {end.output}, {}};
    for (const auto& [name, member] : sum_numbers) {
        node.attributes[name] = sum.*member;
    }
    node.attributes["relu"] = std::int64_t{sum.relu ? 1 : 0};
    node.attributes["reads_twice"] = std::int64_t{sum.reads_twice ? 1 : 0};
    node.attributes["to_even"] = std::int64_t{sum.to_even ? 1 : 0};
    node.attributes["low"] = sum.low;
    node.attributes["high"] = sum.high;
    node.attributes["to"] = std::int64_t{end.type == ElementType::Int8 ? 3 : 2};
    return node;
}

ScaledSum scaled_sum_of(const GraphNode& node) {
    ScaledSum sum;
    for (const auto& [name, member] : sum_numbers) {
        sum.*member = node.integer(name, 0);
    }
    sum.relu = node.integer("relu", 0) != 0;
    sum.reads_twice = node.integer("reads_twice", 0) != 0;
    sum.to_even = node.integer("to_even", 0) != 0;
    sum.low = node.number("low", 0);
    sum.high = node.number("high", 0);
    return sum;
}

std::optional<IntegerForm> read_quantised_sum(const GraphView& view, std::size_t index,
                                              const SumStages& stages) {
    const GraphNode& node = view.node(index);
    const bool sums = node.op == "Add" || node.op == "com.microsoft.QLinearAdd";
    const auto maps = sums ? two_maps(view, node) : std::nullopt;
    if (!maps || is_wide(maps->a.type) || is_wide(maps->b.type) || is_wide(maps->end.type) ||
        view.sizes(maps->a.tensor) != view.sizes(maps->b.tensor)) {
        return std::nullopt;
    }
    const Requantised& end = maps->end;
    Term a = term_of(view, maps->a);
    Term b = term_of(view, maps->b);
    if (a.scale < b.scale) {
        std::swap(a, b);
    }
    const auto even = even_sum(b, a, end);
    std::optional<IntegerForm> form =
        even ? IntegerForm{scaled_sum_node(*even, b.tensor, a.tensor, end), end.nodes, {}}
             : NearestSum(a, b, end).find(stages);
    if (!form) {
        return std::nullopt;
    }
    form->node.name = node.name;
    return form;
}

}  // namespace npuscope
