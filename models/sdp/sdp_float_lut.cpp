// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_float_lut.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "models/arith/float_rules.h"
#include "models/sdp/sdp_lut_math.h"

namespace npuscope {
namespace {

constexpr std::uint32_t kLeLast = kLeEntries - 1;
constexpr std::uint32_t kLoLast = kLoEntries - 1;
constexpr std::uint64_t kOne = std::uint64_t{1} << kSdpFractionBits;

/// What a bound's register holds.
float bound_of(std::int64_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(static_cast<std::uint64_t>(bits)));
}

float fp16_of(std::int16_t bits) { return widen_to_fp17(static_cast<Fp16>(bits)); }

LookupIndex at_or_beyond(std::uint64_t index, std::uint32_t last, std::uint64_t fraction) {
    if (index >= last) {
        return {LookupHit::Overflow, last, 0};
    }
    return {LookupHit::Hit, static_cast<std::uint32_t>(index), fraction};
}

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

float interpolate(std::int16_t y0, std::int16_t y1, std::uint64_t fraction) {
    const float before = fp17_from_fraction(kOne - fraction, kSdpFractionBits);
    const float behind = fp17_from_fraction(fraction, kSdpFractionBits);
    return float_add<Fp17Rules>(float_mul<Fp17Rules>(before, fp16_of(y0)),
                                float_mul<Fp17Rules>(behind, fp16_of(y1)));
}

float extend(std::int16_t y, float distance, std::int16_t slope) {
    const float step = float_mul<Fp17Rules>(narrow_to_fp17(distance), fp16_of(slope));
    return float_add<Fp17Rules>(fp16_of(y), step);
}

/// One table as the interpolator sees it.
struct TableView {
    std::span<const std::int16_t> entries;
    const LookupRange& range;
    float edge_below;
    float edge_above;
};

float answer(float value, const LookupIndex& place, const TableView& table) {
    switch (place.hit) {
        case LookupHit::Underflow:
            return extend(table.entries.front(), float_sub<Fp32Rules>(value, table.edge_below),
                          table.range.underflow.scale);
        case LookupHit::Overflow:
            return extend(table.entries.back(), float_sub<Fp32Rules>(value, table.edge_above),
                          table.range.overflow.scale);
        case LookupHit::Hit:
            break;
    }
    return interpolate(table.entries[place.index], table.entries[place.index + 1U], place.fraction);
}

TableView le_view(const LookupConfig& config, const LookupTables& tables) {
    const bool exponent = config.le_function == LeFunction::Exponent;
    const float first_entry = exponent ? std::ldexp(1.0F, config.le_index_offset) : 0.0F;
    return {tables.le, config.le, float_add<Fp32Rules>(bound_of(config.le.start), first_entry),
            float_add<Fp32Rules>(bound_of(config.le.end), 0.0F)};
}

TableView lo_view(const LookupConfig& config, const LookupTables& tables) {
    return {tables.lo, config.lo, float_add<Fp32Rules>(bound_of(config.lo.start), 0.0F),
            float_add<Fp32Rules>(bound_of(config.lo.end), 0.0F)};
}

}  // namespace

LookupIndex sdp_float_lut_index(float value, LookupTable table, const LookupConfig& config) {
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

void run_sdp_float_lut(const LookupConfig& config, const LookupTables& tables,
                       std::span<float> values, LookupCounters& counters) {
    const TableView le_table = le_view(config, tables);
    const TableView lo_table = lo_view(config, tables);
    for (float& value : values) {
        const LookupIndex le = sdp_float_lut_index(value, LookupTable::Le, config);
        const LookupIndex lo = sdp_float_lut_index(value, LookupTable::Lo, config);
        const bool use_lo = choose_table(le.hit, lo.hit, config) == LookupTable::Lo;
        count_lookup(le.hit, lo.hit, use_lo ? lo.hit : le.hit, counters);
        value = use_lo ? answer(value, lo, lo_table) : answer(value, le, le_table);
    }
}

}  // namespace npuscope
