// SPDX-License-Identifier: Apache-2.0
#include "models/cdp/cdp_lut_math.h"

#include <algorithm>
#include <bit>
#include <span>

#include "models/arith/fixed_point.h"
#include "models/base/check.h"

namespace npuscope {
namespace {

constexpr unsigned kStartBits = 38;         // source: NV_NVDLA_CDP_DP_intp.v
constexpr unsigned kEdgeBits = 39;          // source: NV_NVDLA_CDP_DP_intp.v, lut_le_min
constexpr unsigned kResultBits = 16;        // source: NV_NVDLA_CDP_DP_INTP_unit.v
constexpr unsigned kBeyondEveryTable = 16;  // any distance shifted left by it is past the table
constexpr std::uint32_t kLeLast = kLeEntries - 1;
constexpr std::uint32_t kLoLast = kLoEntries - 1;

LookupIndex at_or_beyond(std::uint64_t index, std::uint32_t last, std::uint64_t fraction) {
    if (index >= last) {
        return {LookupHit::Overflow, last, 0};
    }
    return {LookupHit::Hit, static_cast<std::uint32_t>(index), fraction};
}

/// Wires for one element width. source: int8 NV_NVDLA_CDP_DP_LUT_CTRL_unit.v of nv_small; int16
/// nv_full C model
template <class Value>
struct Wires;
template <>
struct Wires<std::int32_t> {
    using Distance = std::uint32_t;
    static constexpr unsigned compare_bits = 22;
    static constexpr unsigned log_fraction = 21;
    static constexpr unsigned select_bits = 6;
};
template <>
struct Wires<std::int64_t> {
    using Distance = std::uint64_t;
    static constexpr unsigned compare_bits = 38;
    static constexpr unsigned log_fraction = 40;
    static constexpr unsigned select_bits = 7;
};

template <class Wire>
LookupIndex exponent_index(typename Wire::Distance distance, int index_offset) {
    using Distance = typename Wire::Distance;
    NPU_CHECK(distance > 0, "inputs at or below the start must have been handled as underflow");
    const auto log2 = static_cast<unsigned>(std::bit_width(distance)) - 1U;
    const int index = static_cast<int>(log2) - index_offset;
    if (index < 0) {
        return {LookupHit::Underflow, 0, 0};
    }
    const std::uint64_t below = distance - (Distance{1} << log2);
    const std::uint64_t aligned = below << (Wire::log_fraction - log2);
    return at_or_beyond(static_cast<std::uint64_t>(index), kLeLast,
                        aligned >> (Wire::log_fraction - kCdpFractionBits));
}

/// `select` = log2 of the inputs per entry; negative: entries per input. The position within an
/// entry is kept in as many fractional bits as the wire has, of which the upper 16 are used.
template <class Wire>
LookupIndex linear_index(typename Wire::Distance distance, int select, std::uint32_t last) {
    const int bits =
        static_cast<int>(sign_extend(static_cast<std::uint64_t>(select), Wire::select_bits));
    if (bits < 0) {
        const auto left = std::min(static_cast<unsigned>(-bits), kBeyondEveryTable);
        return at_or_beyond(std::uint64_t{distance} << left, last, 0);
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

std::int16_t answer(std::int64_t value, const LookupIndex& place, LookupTable table,
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

template <class Value>
LookupIndex index_of(Value value, LookupTable table, const LookupConfig& config) {
    using Wire = Wires<Value>;
    const LookupRange& range = table == LookupTable::Le ? config.le : config.lo;
    const std::int64_t start =
        sign_extend(static_cast<std::uint64_t>(range.start), Wire::compare_bits);
    if (value <= start) {
        return {LookupHit::Underflow, 0, 0};
    }
    const auto distance = static_cast<typename Wire::Distance>(value - start);
    if (table == LookupTable::Lo) {
        return linear_index<Wire>(distance, range.index_select, kLoLast);
    }
    return config.le_function == LeFunction::Exponent
               ? exponent_index<Wire>(distance, config.le_index_offset)
               : linear_index<Wire>(distance, range.index_select, kLeLast);
}

template <class Value>
std::int16_t lookup(Value value, const LookupConfig& config, const LookupTables& tables,
                    LookupCounters& counters) {
    const LookupIndex le = index_of(value, LookupTable::Le, config);
    const LookupIndex lo = index_of(value, LookupTable::Lo, config);
    count_cdp_lookup(le.hit, lo.hit, counters);
    return choose_table(le.hit, lo.hit, config) == LookupTable::Le
               ? answer(value, le, LookupTable::Le, config, tables.le)
               : answer(value, lo, LookupTable::Lo, config, tables.lo);
}

}  // namespace

LookupIndex cdp_lut_index(std::int32_t value, LookupTable table, const LookupConfig& config) {
    return index_of(value, table, config);
}

LookupIndex cdp_lut_index(std::int64_t value, LookupTable table, const LookupConfig& config) {
    return index_of(value, table, config);
}

std::int16_t cdp_lookup(std::int32_t value, const LookupConfig& config, const LookupTables& tables,
                        LookupCounters& counters) {
    return lookup(value, config, tables, counters);
}

std::int16_t cdp_lookup(std::int64_t value, const LookupConfig& config, const LookupTables& tables,
                        LookupCounters& counters) {
    return lookup(value, config, tables, counters);
}

}  // namespace npuscope
