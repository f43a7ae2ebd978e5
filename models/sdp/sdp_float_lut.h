// SPDX-License-Identifier: Apache-2.0
// The lookup tables of the SDP in fp16. Bounds are fp32 patterns in 32-bit registers, entries and
// slopes fp16; the distance from a table's start is fp32, the interpolation fp17:
//
//     inside    R(R(R(1 - f) * y0) + R(R(f) * y1))         R: 11 significant bits, to even
//     outside   R(y + R(R(x - edge) * slope))
//
// A NaN lies below both tables. source: nv_full C model, compared by running
#pragma once

#include <span>

#include "models/arith/lookup_table.h"

namespace npuscope {

/// Where `value` falls in LE or LO; fraction counts in 2^-35.
LookupIndex sdp_float_lut_index(float value, LookupTable table, const LookupConfig& config);

/// Looks every value up in place; counts like run_sdp_lut.
void run_sdp_float_lut(const LookupConfig& config, const LookupTables& tables,
                       std::span<float> values, LookupCounters& counters);

}  // namespace npuscope
