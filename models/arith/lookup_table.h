// SPDX-License-Identifier: Apache-2.0
// The pair of lookup tables that SDP and CDP each own: LE (65 entries, exponential or linear) and
// LO (257 entries, linear), and the rule that selects the one to use. How a unit turns a value into
// an index and interpolates is up to the unit (sdp_lut_math, cdp_lut_math): the widths differ.
// source: NVDLA doc v1/ias/lut-programming.rst; nv_small RTL, NV_NVDLA_SDP_HLS_Y_int_idx.v
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace npuscope {

constexpr std::size_t kLeEntries = 65;   // source: NV_NVDLA_SDP_define.h
constexpr std::size_t kLoEntries = 257;  // source: NV_NVDLA_SDP_define.h

struct LookupTables {
    std::array<std::int16_t, kLeEntries> le{};
    std::array<std::int16_t, kLoEntries> lo{};
};

enum class LookupTable { Le, Lo };
enum class LeFunction { Exponent, Linear };

/// Straight line that continues a table beyond one of its ends: y + ((x - end) * scale >> shift).
struct LookupSlope {
    std::int16_t scale = 0;
    int shift = 0;  ///< right when positive, left when negative; 5 bits, signed

    bool operator==(const LookupSlope&) const = default;
};

/// One table's part of the configuration.
struct LookupRange {
    std::int64_t start = 0;  ///< an input at or below underflows
    std::int64_t end = 0;    ///< where the overflow slope starts; overflow itself is by index
    int index_select = 0;    ///< log2 of the inputs per entry of a linear table, 8 bits, signed
    LookupSlope underflow;
    LookupSlope overflow;

    bool operator==(const LookupRange&) const = default;
};

struct LookupConfig {
    LeFunction le_function = LeFunction::Exponent;
    int le_index_offset =
        0;  ///< log2 of the input of LE's entry 0 when exponential, 8 bits, signed
    LookupRange le;
    LookupRange lo;
    LookupTable underflow_priority = LookupTable::Le;  ///< table to use when both underflow
    LookupTable overflow_priority = LookupTable::Le;   ///< table to use when both overflow
    LookupTable hybrid_priority = LookupTable::Le;     ///< both hit, or both miss on opposite sides

    bool operator==(const LookupConfig&) const = default;
};

enum class LookupHit { Hit, Underflow, Overflow };

/// Where in a table an input falls; the unit of `fraction` is up to the hardware unit.
struct LookupIndex {
    LookupHit hit = LookupHit::Hit;
    std::uint32_t index = 0;
    std::uint64_t fraction = 0;
};

/// The table to use for an input that produced `le` in LE and `lo` in LO.
constexpr LookupTable choose_table(LookupHit le, LookupHit lo, const LookupConfig& config) {
    if (le == LookupHit::Underflow && lo == LookupHit::Underflow) {
        return config.underflow_priority;
    }
    if (le == LookupHit::Overflow && lo == LookupHit::Overflow) {
        return config.overflow_priority;
    }
    if ((le == LookupHit::Hit) == (lo == LookupHit::Hit)) {
        return config.hybrid_priority;
    }
    return le == LookupHit::Hit ? LookupTable::Le : LookupTable::Lo;
}

/// What the performance registers count, per element.
struct LookupCounters {
    std::uint64_t underflow = 0;
    std::uint64_t overflow = 0;
    std::uint64_t hybrid = 0;
    std::uint64_t le_hit = 0;
    std::uint64_t lo_hit = 0;

    bool operator==(const LookupCounters&) const = default;
};

// The S_LUT_* registers that SDP and CDP have in common, described once for decoding and encoding.
// Only the bounds of the tables are encoded differently (32 bits in one register, 38 in two): the
// caller describes those.
// source: NVDLA register specification, NVDLA_SDP.rdl, NVDLA_CDP.rdl

/// `side`: UFLOW or OFLOW; `table`: LE or LO.
template <class Visitor, class Slope>
void describe_lookup_slope(Visitor& visit, const std::string& table, const std::string& side,
                           Slope& slope) {
    const std::string stem = "LUT_" + table + "_SLOPE_";
    visit.signed_field("S_" + stem + "SCALE", stem + side + "_SCALE", slope.scale);
    visit.signed_field("S_" + stem + "SHIFT", stem + side + "_SHIFT", slope.shift);
}

template <class Visitor, class Range, class Bound>
void describe_lookup_range(Visitor& visit, const std::string& table, Range& range, Bound bound) {
    bound(table + "_START", range.start);
    bound(table + "_END", range.end);
    visit.signed_field("S_LUT_INFO", "LUT_" + table + "_INDEX_SELECT", range.index_select);
    describe_lookup_slope(visit, table, "UFLOW", range.underflow);
    describe_lookup_slope(visit, table, "OFLOW", range.overflow);
}

/// One bit that selects one of two enumerators, the first one at 0.
template <class Visitor, class Choice>
void describe_lookup_choice(Visitor& visit, const std::string& field, Choice& choice) {
    auto code = static_cast<std::uint32_t>(choice);
    visit.field("S_LUT_CFG", field, code);
    if constexpr (Visitor::decodes) {
        choice = static_cast<Choice>(code);
    }
}

/// `bound` is called with "LE_START", "LE_END", "LO_START" or "LO_END" and the member.
template <class Visitor, class Lookup, class Bound>
void describe_lookup(Visitor& visit, Lookup& lut, Bound bound) {
    describe_lookup_choice(visit, "LUT_LE_FUNCTION", lut.le_function);
    visit.signed_field("S_LUT_INFO", "LUT_LE_INDEX_OFFSET", lut.le_index_offset);
    describe_lookup_range(visit, "LE", lut.le, bound);
    describe_lookup_range(visit, "LO", lut.lo, bound);
    describe_lookup_choice(visit, "LUT_UFLOW_PRIORITY", lut.underflow_priority);
    describe_lookup_choice(visit, "LUT_OFLOW_PRIORITY", lut.overflow_priority);
    describe_lookup_choice(visit, "LUT_HYBRID_PRIORITY", lut.hybrid_priority);
}

}  // namespace npuscope
