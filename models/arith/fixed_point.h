// SPDX-License-Identifier: Apache-2.0
// Fixed-point arithmetic of NVDLA's integer pipelines: saturators, shifters, and the convertor that
// is made of both.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace npuscope {

// Clamping to a signed width, as the saturators at the ends of NVDLA's integer pipelines do. Values
// are plain integers that already fit the C++ type; the widths are those of the wires.
// source: nv_small RTL, NV_NVDLA_HLS_saturate.v

__extension__ typedef __int128 Int128;

/// A value that was narrowed, and whether the hardware counts it as saturated.
template <class Int>
struct Narrowed {
    Int value{};
    bool saturated = false;

    bool operator==(const Narrowed&) const = default;
};

/// Largest signed value of `bits` bits (1 <= bits <= width of Int).
template <class Int>
constexpr Int max_of_bits(unsigned bits) {
    return static_cast<Int>(((static_cast<Int>(1) << (bits - 1U)) - 1));
}
template <>
constexpr std::int64_t max_of_bits<std::int64_t>(unsigned bits) {
    return static_cast<std::int64_t>((~std::uint64_t{0} >> 1U) >> (64U - bits));
}

template <class Int>
constexpr Int min_of_bits(unsigned bits) {
    return static_cast<Int>(-max_of_bits<Int>(bits) - 1);
}

/// Clamp to a signed `bits`-bit value; flagged when the value did not fit.
template <class Int>
constexpr Narrowed<Int> saturate_flagged(Int value, unsigned bits) {
    if (value > max_of_bits<Int>(bits)) {
        return {max_of_bits<Int>(bits), true};
    }
    if (value < min_of_bits<Int>(bits)) {
        return {min_of_bits<Int>(bits), true};
    }
    return {value, false};
}

template <class Int>
constexpr Int saturate(Int value, unsigned bits) {
    return saturate_flagged(value, bits).value;
}

/// Clamp to the range of a C++ integer type: saturate_to<std::int8_t>(300) is 127.
template <class Out, class Int>
constexpr Out saturate_to(Int value) {
    static_assert(std::is_signed_v<Out>, "the pipelines saturate to signed types");
    return static_cast<Out>(saturate(value, static_cast<unsigned>(sizeof(Out)) * 8U));
}

/// The low `bits` bits of `value`, read as a signed number: what a wire of that width keeps.
constexpr std::int64_t sign_extend(std::uint64_t value, unsigned bits) {
    const unsigned unused = 64U - bits;
    return static_cast<std::int64_t>(value << unused) >> unused;
}

// Shifters of NVDLA's integer pipelines: right with rounding half away from zero, left with
// saturation, and both combined with a signed shift amount. A right shift by the full width of the
// input wire or more gives 0. The saturation flag follows the RTL, not the C model: a negative
// value counts as saturated when its FLOOR is below the limit, even if rounding brings it back to
// the limit. source: nv_small RTL, NV_NVDLA_HLS_shiftright{su,satsu,ss}.v,
// NV_NVDLA_HLS_shiftleftsu.v

/// Widths in bits of a shifter's input and output wires.
struct ShifterWidths {
    unsigned in = 64;
    unsigned out = 32;
};

/// value / 2^shift, rounded half away from zero. `shift` >= `in_bits` gives 0. Int: 64 or 128 bits.
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

/// The same, then saturated to `widths.out` bits, with the RTL's flag.
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

/// Whether the floor of value / 2^shift is more than one beyond the range of `out_bits` bits: which
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

// The convertor at the borders of the CDMA, SDP and CDP: (x - offset) * scale >> shift. Difference
// and product are exact; the shifter rounds half away from zero and saturates to an inner width, a
// final saturator narrows to the stored width. Not modelled: floating point.
// source: NVDLA doc v1/ias/precision.rst; nv_small RTL, NV_NVDLA_CDMA_CVT_cell.v,
// NV_NVDLA_SDP_HLS_C_int.v

/// What software writes into a convertor's registers.
struct Conversion {
    std::int32_t offset = 0;
    std::int16_t scale = 1;
    unsigned shift = 0;  ///< right shift, bits

    bool operator==(const Conversion&) const = default;
};

/// Wire widths in bits: of the product, after the shifter, as stored.
struct ConvertorWidths {
    unsigned product = 34;
    unsigned shifted = 17;
    unsigned stored = 8;
};

/// source: nv_small RTL, NV_NVDLA_CDMA_CVT_cell.v
constexpr ConvertorWidths image_convertor_int8{34, 17, 8};
constexpr ConvertorWidths image_convertor_int16{34, 17, 16};

/// One value through a convertor. Flagged when the shifter or the final saturator clipped it.
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
