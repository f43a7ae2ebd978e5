// SPDX-License-Identifier: Apache-2.0
// Shifters of NVDLA's integer pipelines: right with rounding half away from zero, left with
// saturation, and the two in one under a signed shift amount.
// A right shift by the full width of the input wire or more gives 0. The saturation flag follows
// the RTL, not the C model: a negative value counts as saturated when its FLOOR lies below the
// limit, even where rounding brings it back on the limit. source: nv_small RTL,
// NV_NVDLA_HLS_shiftright{su,satsu,ss}.v, NV_NVDLA_HLS_shiftleftsu.v
#pragma once

#include <cstdint>

#include "models/arith/saturate.h"

namespace npuscope {

/// Widths in bits of the wire that enters a shifter and of the one that leaves it.
struct ShifterWidths {
    unsigned in = 64;
    unsigned out = 32;
};

/// value / 2^shift, half away from zero. `shift` >= `in_bits` gives 0. Int: 64 or 128 bit.
template <class Int>
constexpr Int shift_right_round(Int value, unsigned shift, unsigned in_bits = sizeof(Int) * 8U) {
    if (shift == 0U) {
        return value;
    }
    if (shift >= in_bits) {
        return 0;
    }
    const Int floor = value >> shift;
    const bool guard = ((value >> (shift - 1U)) & 1) != 0;
    const Int below = value & ((static_cast<Int>(1) << (shift - 1U)) - 1);
    return floor + static_cast<Int>(guard && (value >= 0 || below != 0));
}

/// The same, then saturated to `widths.out` bits, with the flag of the RTL.
template <class Int>
constexpr Narrowed<Int> shift_right_saturate(Int value, unsigned shift, ShifterWidths widths) {
    if (shift >= widths.in) {
        return {0, false};
    }
    const Narrowed<Int> narrowed =
        saturate_flagged(shift_right_round(value, shift, widths.in), widths.out);
    const bool floor_below = (value >> shift) < min_of_bits<Int>(widths.out);
    return {narrowed.value, narrowed.saturated || floor_below};
}

/// Whether the floor of value / 2^shift lies more than one beyond the range of `out_bits` bits: what
/// nv_full counts as saturated. source: nv_full C model, compared by running
template <class Int>
constexpr bool shifted_far_beyond(Int value, unsigned shift, unsigned out_bits) {
    const Int floor = value >> shift;
    return floor > max_of_bits<Int>(out_bits) + 1 || floor < min_of_bits<Int>(out_bits) - 1;
}

/// value * 2^shift, saturated to `out_bits` bits (<= 63); any shift amount is fine.
constexpr Narrowed<std::int64_t> shift_left_saturate(std::int64_t value, unsigned shift,
                                                     unsigned out_bits) {
    if (value == 0) {
        return {0, false};
    }
    const std::int64_t limit =
        value > 0 ? max_of_bits<std::int64_t>(out_bits) : min_of_bits<std::int64_t>(out_bits);
    if (shift >= out_bits) {
        return {limit, true};
    }
    const Int128 shifted = static_cast<Int128>(value) * (static_cast<Int128>(1) << shift);
    const bool outside = value > 0 ? shifted > limit : shifted < limit;
    return {outside ? limit : static_cast<std::int64_t>(shifted), outside};
}

/// A signed shift amount: positive shifts right with rounding, negative shifts left; both saturate.
constexpr Narrowed<std::int64_t> shift_signed_saturate(std::int64_t value, int shift,
                                                       ShifterWidths widths) {
    if (shift < 0) {
        return shift_left_saturate(value, static_cast<unsigned>(-shift), widths.out);
    }
    return shift_right_saturate(value, static_cast<unsigned>(shift), widths);
}

}  // namespace npuscope
