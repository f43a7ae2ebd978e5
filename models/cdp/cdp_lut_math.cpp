// SPDX-License-Identifier: Apache-2.0
#include "models/cdp/cdp_lut_math.h"

#include <bit>
#include <span>

#include "models/arith/round.h"
#include "models/base/check.h"

namespace npuscope {
namespace {

constexpr unsigned kCompareBits = 22;  // source: NV_NVDLA_CDP_DP_LUT_CTRL_unit.v, pPP_BW + 1
constexpr unsigned kLogFraction = 21;  // source: NV_NVDLA_CDP_DP_LUT_CTRL_unit.v, pPP_BW
constexpr unsigned kStartBits = 38;    // source: NV_NVDLA_CDP_DP_intp.v
constexpr unsigned kEdgeBits = 39;     // source: NV_NVDLA_CDP_DP_intp.v, lut_le_min
constexpr unsigned kSelectBits = 6;    // source: NV_NVDLA_CDP_DP_LUT_CTRL_unit.v
constexpr unsigned kResultBits = 16;   // source: NV_NVDLA_CDP_DP_INTP_unit.v
constexpr std::uint32_t kLeLast = kLeEntries - 1;
constexpr std::uint32_t kLoLast = kLoEntries - 1;

LookupIndex at_or_beyond(std::uint64_t index, std::uint32_t last, std::uint64_t fraction) {
    if (index >= last) {
        return {LookupHit::Overflow, last, 0};
    }
    return {LookupHit::Hit, static_cast<std::uint32_t>(index), fraction};
}

LookupIndex exponent_index(std::uint32_t distance, int index_offset) {
    NPU_CHECK(distance > 0, "an input at or below the start underflows before");
    const auto log2 = static_cast<unsigned>(std::bit_width(distance)) - 1U;
    const int index = static_cast<int>(log2) - index_offset;
    if (index < 0) {
        return {LookupHit::Underflow, 0, 0};
    }
    const std::uint64_t below = distance - (std::uint32_t{1} << log2);
    const std::uint64_t aligned = below << (kLogFraction - log2);
    return at_or_beyond(static_cast<std::uint64_t>(index), kLeLast,
                        aligned >> (kLogFraction - kCdpFractionBits));
}

/// `select` = log2 of the inputs per entry; negative: entries per input. The part of an entry is
/// kept in as many bits as the wire has below the point, of which the upper 16 are used.
LookupIndex linear_index(std::uint32_t distance, int select, std::uint32_t last) {
    const int bits = static_cast<int>(sign_extend(static_cast<std::uint64_t>(select), kSelectBits));
    if (bits < 0) {
        return at_or_beyond(std::uint64_t{distance} << static_cast<unsigned>(-bits), last, 0);
    }
    const auto right = static_cast<unsigned>(bits);
    const std::uint64_t scaled = (std::uint64_t{distance} << kCdpFractionBits) >> right;
    const std::uint64_t fraction = scaled & ((std::uint64_t{1} << kCdpFractionBits) - 1U);
    return at_or_beyond(std::uint64_t{distance} >> right, last, fraction);
}

std::int16_t to_result(std::int64_t value) {
    return static_cast<std::int16_t>(saturate(value, kResultBits));
}

/// y + (distance * scale >> shift), rounded half away from zero, saturated to 16 bits.
std::int16_t step_from(std::int64_t y, std::int64_t distance, const LookupSlope& slope) {
    const Int128 product = static_cast<Int128>(distance) * slope.scale;
    const Int128 shifted = slope.shift < 0
                               ? product * (Int128{1} << static_cast<unsigned>(-slope.shift))
                               : shift_right_round(product, static_cast<unsigned>(slope.shift));
    return static_cast<std::int16_t>(saturate<Int128>(y + shifted, kResultBits));
}

std::int64_t underflow_edge(LookupTable table, const LookupConfig& config) {
    if (table == LookupTable::Lo) {
        return sign_extend(static_cast<std::uint64_t>(config.lo.start), kStartBits);
    }
    const auto start = static_cast<std::uint64_t>(
        sign_extend(static_cast<std::uint64_t>(config.le.start), kStartBits));
    const bool first_entry_above_start =
        config.le_function == LeFunction::Exponent && config.le_index_offset >= 0;
    const std::uint64_t first = first_entry_above_start && config.le_index_offset < 64
                                    ? std::uint64_t{1} << config.le_index_offset
                                    : 0;
    return sign_extend(start + first, kEdgeBits);
}

std::int16_t interpolate(std::int64_t y0, std::int64_t y1, std::uint64_t fraction) {
    const std::int64_t product = (y1 - y0) * static_cast<std::int64_t>(fraction);
    return to_result(y0 + shift_right_round(product, kCdpFractionBits));
}

std::int16_t answer(std::int32_t value, const LookupIndex& place, LookupTable table,
                    const LookupConfig& config, std::span<const std::int16_t> entries) {
    const LookupRange& range = table == LookupTable::Le ? config.le : config.lo;
    switch (place.hit) {
        case LookupHit::Underflow:
            return step_from(entries.front(), value - underflow_edge(table, config),
                             range.underflow);
        case LookupHit::Overflow: {
            const std::int64_t end = sign_extend(static_cast<std::uint64_t>(range.end), kStartBits);
            return step_from(entries.back(), value - end, range.overflow);
        }
        case LookupHit::Hit:
            break;
    }
    return interpolate(entries[place.index], entries[place.index + 1U], place.fraction);
}

void count(LookupHit le, LookupHit lo, LookupCounters& counters) {
    const bool both_low = le == LookupHit::Underflow && lo == LookupHit::Underflow;
    const bool both_high = le == LookupHit::Overflow && lo == LookupHit::Overflow;
    const bool le_alone = le == LookupHit::Hit && lo != LookupHit::Hit;
    const bool lo_alone = le != LookupHit::Hit && lo == LookupHit::Hit;
    counters.underflow += both_low ? 1U : 0U;
    counters.overflow += both_high ? 1U : 0U;
    counters.le_hit += le_alone ? 1U : 0U;
    counters.lo_hit += lo_alone ? 1U : 0U;
    counters.hybrid += both_low || both_high || le_alone || lo_alone ? 0U : 1U;
}

}  // namespace

LookupIndex cdp_lut_index(std::int32_t value, LookupTable table, const LookupConfig& config) {
    const LookupRange& range = table == LookupTable::Le ? config.le : config.lo;
    const std::int64_t start = sign_extend(static_cast<std::uint64_t>(range.start), kCompareBits);
    if (value <= start) {
        return {LookupHit::Underflow, 0, 0};
    }
    const auto distance = static_cast<std::uint32_t>(value - start);
    if (table == LookupTable::Lo) {
        return linear_index(distance, range.index_select, kLoLast);
    }
    return config.le_function == LeFunction::Exponent
               ? exponent_index(distance, config.le_index_offset)
               : linear_index(distance, range.index_select, kLeLast);
}

std::int16_t cdp_lookup(std::int32_t value, const LookupConfig& config, const LookupTables& tables,
                        LookupCounters& counters) {
    const LookupIndex le = cdp_lut_index(value, LookupTable::Le, config);
    const LookupIndex lo = cdp_lut_index(value, LookupTable::Lo, config);
    count(le.hit, lo.hit, counters);
    return choose_table(le.hit, lo.hit, config) == LookupTable::Le
               ? answer(value, le, LookupTable::Le, config, tables.le)
               : answer(value, lo, LookupTable::Lo, config, tables.lo);
}

}  // namespace npuscope
