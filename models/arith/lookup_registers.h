// SPDX-License-Identifier: Apache-2.0
// The S_LUT_* registers that SDP and CDP have alike, described once for decoding and encoding. Only
// the bounds of the tables are written down differently (32 bits in one register, 38 in two): the
// caller describes those.
// source: NVDLA register specification, NVDLA_SDP.rdl, NVDLA_CDP.rdl
#pragma once

#include <string>

#include "models/arith/lookup_table.h"

namespace npuscope {

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

/// One bit that chooses between two enumerators, the first one at 0.
template <class Visitor, class Choice>
void describe_lookup_choice(Visitor& visit, const std::string& field, Choice& choice) {
    auto code = static_cast<std::uint32_t>(choice);
    visit.field("S_LUT_CFG", field, code);
    if constexpr (Visitor::decodes) {
        choice = static_cast<Choice>(code);
    }
}

/// `bound` takes "LE_START", "LE_END", "LO_START" or "LO_END" and the member.
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
