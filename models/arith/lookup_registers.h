// SPDX-License-Identifier: Apache-2.0
// The S_LUT_* registers that SDP and CDP have alike, as a LookupConfig. Only the bounds of the
// tables are written down differently (32 bits in one register, 38 in two): the caller reads those.
// source: NVDLA register specification, NVDLA_SDP.rdl, NVDLA_CDP.rdl
#pragma once

#include <string>
#include <string_view>

#include "models/arith/lookup_table.h"
#include "models/base/register_map.h"

namespace npuscope {

/// `side`: UFLOW or OFLOW; `table`: LE or LO.
inline LookupSlope read_lookup_slope(const RegisterValues& values, const std::string& table,
                                     const std::string& side) {
    const std::string scale = "LUT_" + table + "_SLOPE_" + side + "_SCALE";
    const std::string shift = "LUT_" + table + "_SLOPE_" + side + "_SHIFT";
    return {
        static_cast<std::int16_t>(values.signed_field("S_LUT_" + table + "_SLOPE_SCALE", scale)),
        values.signed_field("S_LUT_" + table + "_SLOPE_SHIFT", shift)};
}

/// `bound` takes "LE_START", "LE_END", "LO_START" or "LO_END" and returns its value.
template <class Bound>
LookupConfig read_lookup_config(const RegisterValues& values, Bound bound) {
    const auto priority = [&values](std::string_view field) {
        return values.field("S_LUT_CFG", field) == 0 ? LookupTable::Le : LookupTable::Lo;
    };
    const auto range = [&](const std::string& table) {
        return LookupRange{bound(table + "_START"), bound(table + "_END"),
                           values.signed_field("S_LUT_INFO", "LUT_" + table + "_INDEX_SELECT"),
                           read_lookup_slope(values, table, "UFLOW"),
                           read_lookup_slope(values, table, "OFLOW")};
    };
    LookupConfig lut;
    lut.le_function = values.field("S_LUT_CFG", "LUT_LE_FUNCTION") == 0 ? LeFunction::Exponent
                                                                        : LeFunction::Linear;
    lut.le_index_offset = values.signed_field("S_LUT_INFO", "LUT_LE_INDEX_OFFSET");
    lut.le = range("LE");
    lut.lo = range("LO");
    lut.underflow_priority = priority("LUT_UFLOW_PRIORITY");
    lut.overflow_priority = priority("LUT_OFLOW_PRIORITY");
    lut.hybrid_priority = priority("LUT_HYBRID_PRIORITY");
    return lut;
}

}  // namespace npuscope
