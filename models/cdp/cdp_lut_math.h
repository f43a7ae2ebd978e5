// SPDX-License-Identifier: Apache-2.0
// The lookup tables of the CDP, int8: a sum of squares of 21 bits in, 16 bits out, fractions of 16
// bits. Bit-exact to the RTL: a start counts with its low 22 bits where inputs are compared, with
// all 38 where a slope begins; an index select counts with its low 6 bits.
// source: nv_small RTL, NV_NVDLA_CDP_DP_{LUT_CTRL_unit,lut,intp,INTP_unit}.v
#pragma once

#include <cstdint>

#include "models/arith/lookup_table.h"

namespace npuscope {

constexpr unsigned kCdpFractionBits = 16;  // source: NV_NVDLA_CDP_DP_LUT_CTRL_unit.v

/// Where `value` falls in LE or LO; fraction counts in 2^-16.
LookupIndex cdp_lut_index(std::int32_t value, LookupTable table, const LookupConfig& config);

/// What the tables answer to `value`. Counts what the performance registers count: both tables
/// missed low, both high, `hybrid` = both hit or missed on opposite sides, or one alone hit.
std::int16_t cdp_lookup(std::int32_t value, const LookupConfig& config, const LookupTables& tables,
                        LookupCounters& counters);

}  // namespace npuscope
