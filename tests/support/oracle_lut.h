// SPDX-License-Identifier: Apache-2.0
// Plain look-up tables of SDP (Y) and CDP: LE of 65 entries, exponent or linear, LO of 257, linear.
// x <= start is below the table; after the last entry it continues with a slope. CDP truncates the
// fraction to 16 bits, SDP keeps 35.
// source: NVDLA LUT programming page; nv_small RTL, SDP_HLS_Y_int_* and CDP_DP_LUT_CTRL_unit
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/support/oracle_number.h"

namespace npuscope::oracle {

struct LutSlope {
    std::int32_t scale = 0;  ///< 16 bits signed
    std::int32_t shift = 0;  ///< 5 bits signed, left where negative
};

struct LutTable {
    bool exponent = false;
    std::int32_t index_offset = 0;  ///< 8 bits signed, exponent only
    std::int32_t index_select = 0;  ///< 8 bits signed, linear only
    std::int64_t start = 0;
    std::int64_t end = 0;
    LutSlope underflow;
    LutSlope overflow;
    std::vector<std::int32_t> entries;  ///< 65 or 257
};

struct Lut {
    LutTable le;
    LutTable lo;
    bool underflow_lo = false;
    bool overflow_lo = false;
    bool hybrid_lo = false;
};

/// 32 bits in and out.
std::int64_t look_up_sdp(const Lut& lut, std::int64_t x);
/// 22 bits in, 16 bits out.
std::int64_t look_up_cdp(const Lut& lut, std::int64_t x);

}  // namespace npuscope::oracle
