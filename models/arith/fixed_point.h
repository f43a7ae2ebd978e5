// SPDX-License-Identifier: Apache-2.0
// The convertor that stands at the borders of the CDMA, SDP and CDP: (x - offset) * scale >> shift.
// Difference and product are exact; the shifter rounds half away from zero and saturates to an
// inner width, a last saturator narrows to the stored width. Not modelled: floating point.
// source: NVDLA doc v1/ias/precision.rst; nv_small RTL, NV_NVDLA_CDMA_CVT_cell.v,
// NV_NVDLA_SDP_HLS_C_int.v
#pragma once

#include <cstdint>

#include "models/arith/round.h"
#include "models/arith/saturate.h"

namespace npuscope {

/// What software writes into a convertor's registers.
struct Conversion {
    std::int32_t offset = 0;
    std::int16_t scale = 1;
    unsigned shift = 0;  ///< right shift, bits

    bool operator==(const Conversion&) const = default;
};

/// Wire widths in bits: of the product, behind the shifter, as stored.
struct ConvertorWidths {
    unsigned product = 34;
    unsigned shifted = 17;
    unsigned stored = 8;
};

/// source: nv_small RTL, NV_NVDLA_CDMA_CVT_cell.v
constexpr ConvertorWidths image_convertor_int8{34, 17, 8};
constexpr ConvertorWidths image_convertor_int16{34, 17, 16};
/// source: nv_small RTL, NV_NVDLA_SDP_HLS_C_int.v
constexpr ConvertorWidths output_convertor_int8{49, 17, 8};
constexpr ConvertorWidths output_convertor_int16{49, 17, 16};

/// One value through a convertor. Flagged when the shifter or the last saturator cut it.
constexpr Narrowed<std::int64_t> convert_flagged(std::int64_t value, const Conversion& conversion,
                                                 ConvertorWidths widths) {
    const std::int64_t product = (value - conversion.offset) * conversion.scale;
    const Narrowed<std::int64_t> shifted =
        shift_right_saturate(product, conversion.shift, {widths.product, widths.shifted});
    const Narrowed<std::int64_t> stored = saturate_flagged(shifted.value, widths.stored);
    return {stored.value, stored.saturated || shifted.saturated};
}

constexpr std::int64_t convert(std::int64_t value, const Conversion& conversion,
                               ConvertorWidths widths) {
    return convert_flagged(value, conversion, widths).value;
}

}  // namespace npuscope
