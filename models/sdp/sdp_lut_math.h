// SPDX-License-Identifier: Apache-2.0
// The lookup tables after the element-wise stage of the SDP: 32-bit values in and out, 35-bit
// fractions. Bit-exact to the RTL, also where an input is 2^31 or more above a table's start.
// source: nv_small RTL, NV_NVDLA_SDP_HLS_{lut_expn,lut_line,Y_int_idx,Y_int_inp}.v,
// NV_NVDLA_SDP_CORE_Y_lut.v
#pragma once

#include <cstdint>
#include <span>

#include "models/arith/lookup_table.h"

namespace npuscope {

constexpr unsigned kSdpFractionBits = 35;  // source: NV_NVDLA_SDP_HLS_lut_line.v

/// Where `value` falls in LE or LO; fraction counts in 2^-35.
LookupIndex sdp_lut_index(std::int32_t value, LookupTable table, const LookupConfig& config);

/// Looks every value up in place. Counters are per element: underflow and overflow of the table
/// that answered, hybrid = answered inside a table, le_hit and lo_hit by whichever answered.
void run_sdp_lut(const LookupConfig& config, const LookupTables& tables,
                 std::span<std::int32_t> values, LookupCounters& counters);

// The lookup tables of the SDP in fp16. Bounds are fp32 patterns in 32-bit registers, entries and
// slopes fp16; the distance from a table's start is fp32, the interpolation fp17:
//
//     inside    R(R(R(1 - f) * y0) + R(R(f) * y1))         R: 11 significant bits, to even
//     outside   R(y + R(R(x - edge) * slope))
//
// A NaN is below both tables. source: nv_full C model, compared by running

LookupIndex sdp_lut_index(float value, LookupTable table, const LookupConfig& config);

void run_sdp_lut(const LookupConfig& config, const LookupTables& tables, std::span<float> values,
                 LookupCounters& counters);

}  // namespace npuscope
