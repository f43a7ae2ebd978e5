// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_lut_math.h"

#include <algorithm>
#include <bit>

#include "models/arith/fixed_point.h"

namespace npuscope {
namespace {

constexpr std::uint32_t kLeLast = kLeEntries - 1;
constexpr std::uint32_t kLoLast = kLoEntries - 1;
constexpr ShifterWidths kSlopeShifter{50, 32};          // source: NV_NVDLA_SDP_HLS_Y_int_inp.v
constexpr ShifterWidths kInterpolationShifter{53, 32};  // source: NV_NVDLA_SDP_HLS_Y_int_inp.v

LookupIndex at_or_beyond(std::uint64_t index, std::uint32_t last, std::uint64_t fraction) {
    if (index >= last) {
        return {LookupHit::Overflow, last, 0};
    }
    return {LookupHit::Hit, static_cast<std::uint32_t>(index), fraction};
}

/// Place of the leading one, as the RTL's sign detector sees it: from 2^31 on the distance looks
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
std::int32_t extend(std::int64_t y, std::int64_t distance, const LookupSlope& slope) {
    const std::int64_t step =
        shift_signed_saturate(distance * slope.scale, slope.shift, kSlopeShifter).value;
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

std::int32_t interpolate(std::int64_t y0, std::int64_t y1, std::uint64_t fraction) {
    const auto f = static_cast<std::int64_t>(fraction);
    const std::int64_t sum = y0 * ((std::int64_t{1} << kSdpFractionBits) - f) + y1 * f;
    return static_cast<std::int32_t>(
        shift_right_saturate(sum, kSdpFractionBits, kInterpolationShifter).value);
}

/// One table as the interpolator sees it.
struct TableView {
    std::span<const std::int16_t> entries;
    const LookupRange& range;
};

std::int32_t answer(std::int32_t value, const LookupIndex& place, const TableView& table,
                    std::int64_t edge_below) {
    switch (place.hit) {
        case LookupHit::Underflow:
            return extend(table.entries.front(), value - edge_below, table.range.underflow);
        case LookupHit::Overflow:
            return extend(table.entries.back(), value - table.range.end, table.range.overflow);
        case LookupHit::Hit:
            break;
    }
    return interpolate(table.entries[place.index], table.entries[place.index + 1U], place.fraction);
}

}  // namespace

void count_lookup(LookupHit le, LookupHit lo, LookupHit answered, LookupCounters& counters) {
    counters.le_hit += le == LookupHit::Hit ? 1U : 0U;
    counters.lo_hit += lo == LookupHit::Hit ? 1U : 0U;
    counters.underflow += answered == LookupHit::Underflow ? 1U : 0U;
    counters.overflow += answered == LookupHit::Overflow ? 1U : 0U;
    counters.hybrid += answered == LookupHit::Hit ? 1U : 0U;
}

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

void run_sdp_lut(const LookupConfig& config, const LookupTables& tables,
                 std::span<std::int32_t> values, LookupCounters& counters) {
    const TableView le_table{tables.le, config.le};
    const TableView lo_table{tables.lo, config.lo};
    const std::int64_t le_edge = underflow_edge(LookupTable::Le, config);
    const std::int64_t lo_edge = underflow_edge(LookupTable::Lo, config);
    for (std::int32_t& value : values) {
        const LookupIndex le = sdp_lut_index(value, LookupTable::Le, config);
        const LookupIndex lo = sdp_lut_index(value, LookupTable::Lo, config);
        const bool use_lo = choose_table(le.hit, lo.hit, config) == LookupTable::Lo;
        count_lookup(le.hit, lo.hit, use_lo ? lo.hit : le.hit, counters);
        value =
            use_lo ? answer(value, lo, lo_table, lo_edge) : answer(value, le, le_table, le_edge);
    }
}

}  // namespace npuscope
