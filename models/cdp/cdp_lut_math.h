// SPDX-License-Identifier: Apache-2.0
// The lookup tables of the CDP in integers: a sum of squares of 21 bits (int8) or 37 (int16) in, 16
// bits out, 16-bit fractions. int8 is bit-exact to the RTL: of a start only the low 22 bits count
// where inputs are compared, and all 38 where a slope begins; of an index select only its low 6
// bits. int16 compares with all 38, its index select has 7 bits (source: nv_full C model).
// source: nv_small RTL, NV_NVDLA_CDP_DP_{LUT_CTRL_unit,lut,intp,INTP_unit}.v
#pragma once

#include <cstdint>

#include "models/arith/lookup_table.h"

namespace npuscope {

constexpr unsigned kCdpFractionBits = 16;  // source: NV_NVDLA_CDP_DP_LUT_CTRL_unit.v

/// Where `value` falls in LE or LO; fraction counts in 2^-16.
LookupIndex cdp_lut_index(std::int32_t value, LookupTable table, const LookupConfig& config);
LookupIndex cdp_lut_index(std::int64_t value, LookupTable table, const LookupConfig& config);

/// Counts what the performance registers count: both tables missed low, both high, only one hit, or
/// `hybrid` = both hit or missed on opposite sides.
inline void count_cdp_lookup(LookupHit le, LookupHit lo, LookupCounters& counters) {
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

/// The tables' answer to `value`: 32 bits for int8, 64 for int16.
std::int16_t cdp_lookup(std::int32_t value, const LookupConfig& config, const LookupTables& tables,
                        LookupCounters& counters);
std::int16_t cdp_lookup(std::int64_t value, const LookupConfig& config, const LookupTables& tables,
                        LookupCounters& counters);

}  // namespace npuscope
