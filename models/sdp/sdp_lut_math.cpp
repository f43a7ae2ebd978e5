// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_lut_math.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/arith/fixed_point.h"
#include "models/arith/float16.h"

namespace npuscope {
namespace {

constexpr std::uint32_t kLeLast = kLeEntries - 1;
constexpr std::uint32_t kLoLast = kLoEntries - 1;
constexpr std::uint64_t kOne = std::uint64_t{1} << kSdpFractionBits;
constexpr ShifterWidths kSlopeShifter{50, 32};          // source: NV_NVDLA_SDP_HLS_Y_int_inp.v
constexpr ShifterWidths kInterpolationShifter{53, 32};  // source: NV_NVDLA_SDP_HLS_Y_int_inp.v

LookupIndex at_or_beyond(std::uint64_t index, std::uint32_t last, std::uint64_t fraction) {
    if (index >= last) {
        return {LookupHit::Overflow, last, 0};
    }
    return {LookupHit::Hit, static_cast<std::uint32_t>(index), fraction};
}

/// Position of the leading one, as the RTL's sign detector sees it: from 2^31 on the distance looks
/// negative and its leading ones are counted instead; all ones come out as 511.
unsigned leading_bit(std::uint32_t distance) {
    const std::uint32_t magnitude = (distance >> 31U) != 0 ? ~distance : distance;
    const int sign_bits = std::countl_zero(magnitude);  // 1..32, the sign bit among them
    return sign_bits == 32 ? 511U : static_cast<unsigned>(31 - sign_bits);
}

LookupIndex exponent_index(std::uint32_t distance, int index_offset) {
    const unsigned log2 = leading_bit(distance);
    const int index = static_cast<int>(log2) - index_offset;
    if (index < 0) {
        return {LookupHit::Underflow, 0, 0};
    }
    if (log2 > 31U) {
        return {LookupHit::Overflow, kLeLast, 0};
    }
    const std::uint64_t below = distance & ((std::uint32_t{1} << log2) - 1U);
    return at_or_beyond(static_cast<std::uint64_t>(index), kLeLast,
                        below << (kSdpFractionBits - log2));
}

/// `select` = log2 of the inputs per entry; negative: entries per input.
LookupIndex linear_index(std::uint32_t distance, int select, std::uint32_t last) {
    if (select < 0) {
        const unsigned left = static_cast<unsigned>(-select);
        const std::uint64_t index =
            left >= 16U ? std::uint64_t{last} : std::uint64_t{distance} << left;
        return at_or_beyond(index, last, 0);
    }
    const Int128 scaled = static_cast<Int128>(distance) << kSdpFractionBits;
    const Int128 shifted = scaled >> std::min(select, 127);
    const std::uint64_t fraction =
        static_cast<std::uint64_t>(shifted) & ((std::uint64_t{1} << kSdpFractionBits) - 1U);
    return at_or_beyond(static_cast<std::uint64_t>(shifted >> kSdpFractionBits), last, fraction);
}

/// Outside of the table: y + ((value - edge) * scale >> shift), saturated to 32 bits.
std::int32_t extend(std::int16_t y, std::int32_t value, std::int64_t edge,
                    const LookupSlope& slope) {
    const std::int64_t step =
        shift_signed_saturate((value - edge) * slope.scale, slope.shift, kSlopeShifter).value;
    return saturate_to<std::int32_t>(y + step);
}

std::int64_t underflow_edge(LookupTable table, const LookupConfig& config) {
    if (table == LookupTable::Lo) {
        return config.lo.start;
    }
    const bool first_entry_above_start = config.le_function == LeFunction::Exponent &&
                                         config.le_index_offset >= 0 && config.le_index_offset < 32;
    return config.le.start +
           (first_entry_above_start ? std::int64_t{1} << config.le_index_offset : 0);
}

template <class Value>
Value interpolate(std::int16_t y0, std::int16_t y1, std::uint64_t fraction);

template <>
std::int32_t interpolate(std::int16_t y0, std::int16_t y1, std::uint64_t fraction) {
    const auto f = static_cast<std::int64_t>(fraction);
    const std::int64_t sum = y0 * ((std::int64_t{1} << kSdpFractionBits) - f) + y1 * f;
    return static_cast<std::int32_t>(
        shift_right_saturate(sum, kSdpFractionBits, kInterpolationShifter).value);
}

/// Value of a bound's register.
float bound_of(std::int64_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(bits)));
}

float fp16_of(std::int16_t bits) { return widen_to_fp17(static_cast<Fp16>(bits)); }

LookupIndex exponent_index(float distance, int index_offset) {
    const int index = std::ilogb(distance) - index_offset;
    if (index < 0) {
        return {LookupHit::Underflow, 0, 0};
    }
    const std::uint64_t mantissa =
        std::bit_cast<std::uint32_t>(distance) & Fp32Format::mantissa_mask;
    return at_or_beyond(static_cast<std::uint64_t>(index), kLeLast,
                        mantissa << (kSdpFractionBits - Fp32Format::mantissa_bits));
}

/// `select` = log2 of the distance per entry. Fractions below 2^-35 are cut.
LookupIndex linear_index(float distance, int select, std::uint32_t last) {
    const double place = std::ldexp(static_cast<double>(distance), -select);
    if (place >= static_cast<double>(last)) {
        return {LookupHit::Overflow, last, 0};
    }
    const auto fixed = static_cast<std::uint64_t>(std::ldexp(place, kSdpFractionBits));
    return at_or_beyond(fixed / kOne, last, fixed % kOne);
}

template <>
float interpolate(std::int16_t y0, std::int16_t y1, std::uint64_t fraction) {
    const float before = fp17_from_fraction(kOne - fraction, kSdpFractionBits);
    const float behind = fp17_from_fraction(fraction, kSdpFractionBits);
    return float_add<Fp17Rules>(float_mul<Fp17Rules>(before, fp16_of(y0)),
                                float_mul<Fp17Rules>(behind, fp16_of(y1)));
}

float extend(std::int16_t y, float value, float edge, const LookupSlope& slope) {
    const float distance = float_sub<Fp32Rules>(value, edge);
    const float step = float_mul<Fp17Rules>(narrow_to_fp17(distance), fp16_of(slope.scale));
    return float_add<Fp17Rules>(fp16_of(y), step);
}

/// One table as the interpolator sees it: what is beyond an edge continues from there.
template <class Edge>
struct TableView {
    std::span<const std::int16_t> entries;
    const LookupRange& range;
    Edge edge_below;
    Edge edge_above;
};

template <class Value, class Edge>
Value answer(Value value, const LookupIndex& place, const TableView<Edge>& table) {
    switch (place.hit) {
        case LookupHit::Underflow:
            return extend(table.entries.front(), value, table.edge_below, table.range.underflow);
        case LookupHit::Overflow:
            return extend(table.entries.back(), value, table.edge_above, table.range.overflow);
        case LookupHit::Hit:
            break;
    }
    return interpolate<Value>(table.entries[place.index], table.entries[place.index + 1U],
                              place.fraction);
}

TableView<float> le_view(const LookupConfig& config, const LookupTables& tables) {
    const bool exponent = config.le_function == LeFunction::Exponent;
    const float first_entry = exponent ? std::ldexp(1.0F, config.le_index_offset) : 0.0F;
    return {tables.le, config.le, float_add<Fp32Rules>(bound_of(config.le.start), first_entry),
            float_add<Fp32Rules>(bound_of(config.le.end), 0.0F)};
}

TableView<float> lo_view(const LookupConfig& config, const LookupTables& tables) {
    return {tables.lo, config.lo, float_add<Fp32Rules>(bound_of(config.lo.start), 0.0F),
            float_add<Fp32Rules>(bound_of(config.lo.end), 0.0F)};
}

void count_lookup(LookupHit le, LookupHit lo, LookupHit answered, LookupCounters& counters) {
    counters.le_hit += le == LookupHit::Hit ? 1U : 0U;
    counters.lo_hit += lo == LookupHit::Hit ? 1U : 0U;
    counters.underflow += answered == LookupHit::Underflow ? 1U : 0U;
    counters.overflow += answered == LookupHit::Overflow ? 1U : 0U;
    counters.hybrid += answered == LookupHit::Hit ? 1U : 0U;
}

template <class Value, class Edge>
void look_up(const LookupConfig& config, const TableView<Edge>& le_table,
             const TableView<Edge>& lo_table, std::span<Value> values, LookupCounters& counters) {
    for (Value& value : values) {
        const LookupIndex le = sdp_lut_index(value, LookupTable::Le, config);
        const LookupIndex lo = sdp_lut_index(value, LookupTable::Lo, config);
        const bool use_lo = choose_table(le.hit, lo.hit, config) == LookupTable::Lo;
        count_lookup(le.hit, lo.hit, use_lo ? lo.hit : le.hit, counters);
        value = use_lo ? answer(value, lo, lo_table) : answer(value, le, le_table);
    }
}

}  // namespace

LookupIndex sdp_lut_index(std::int32_t value, LookupTable table, const LookupConfig& config) {
    const LookupRange& range = table == LookupTable::Le ? config.le : config.lo;
    if (value <= range.start) {
        return {LookupHit::Underflow, 0, 0};
    }
    const auto distance = static_cast<std::uint32_t>(value - range.start);
    if (table == LookupTable::Lo) {
        return linear_index(distance, range.index_select, kLoLast);
    }
    return config.le_function == LeFunction::Exponent
               ? exponent_index(distance, config.le_index_offset)
               : linear_index(distance, range.index_select, kLeLast);
}

LookupIndex sdp_lut_index(float value, LookupTable table, const LookupConfig& config) {
    const LookupRange& range = table == LookupTable::Le ? config.le : config.lo;
    const float distance = float_sub<Fp32Rules>(value, bound_of(range.start));
    if (is_nan(distance) || distance <= 0.0F) {
        return {LookupHit::Underflow, 0, 0};
    }
    if (table == LookupTable::Lo) {
        return linear_index(distance, range.index_select, kLoLast);
    }
    return config.le_function == LeFunction::Exponent
               ? exponent_index(distance, config.le_index_offset)
               : linear_index(distance, range.index_select, kLeLast);
}

void run_sdp_lut(const LookupConfig& config, const LookupTables& tables,
                 std::span<std::int32_t> values, LookupCounters& counters) {
    const auto view = [&](std::span<const std::int16_t> entries, LookupTable table,
                          const LookupRange& range) {
        return TableView<std::int64_t>{entries, range, underflow_edge(table, config), range.end};
    };
    look_up(config, view(tables.le, LookupTable::Le, config.le),
            view(tables.lo, LookupTable::Lo, config.lo), values, counters);
}

void run_sdp_lut(const LookupConfig& config, const LookupTables& tables, std::span<float> values,
                 LookupCounters& counters) {
    look_up(config, le_view(config, tables), lo_view(config, tables), values, counters);
}

}  // namespace npuscope
