// SPDX-License-Identifier: Apache-2.0
// Integers of the plain oracle: 128 bits wide, so that no intermediate result overflows, and the
// two rules that every integer path of the NVDLA uses: shift right with ties away from zero,
// saturate. Slow on purpose; shares no code with models/.
#pragma once

#include <cstdint>

namespace npuscope::oracle {

__extension__ using Wide = __int128;

/// Keeps the lowest bits and reads them as two's complement.
inline Wide sign_extend(Wide value, unsigned bits) {
    const Wide size = Wide{1} << bits;
    const Wide low = value & (size - 1);
    return low >= size / 2 ? low - size : low;
}

inline Wide saturate(Wide value, unsigned bits) {
    const Wide top = (Wide{1} << (bits - 1)) - 1;
    if (value > top) {
        return top;
    }
    return value < -top - 1 ? -top - 1 : value;
}

/// value / 2^shift, ties away from zero. source: NVDLA precision page
inline Wide round_shift(Wide value, unsigned shift) {
    if (shift == 0) {
        return value;
    }
    const Wide half = Wide{1} << (shift - 1);
    return value >= 0 ? (value + half) >> shift : -((half - value) >> shift);
}

struct ShiftWidths {
    unsigned in = 49;
    unsigned out = 32;
};

/// A shift by the whole input width or more returns 0.
/// source: nv_small RTL, NV_NVDLA_HLS_shiftrightsu.v
inline Wide shift_right(Wide value, unsigned shift, ShiftWidths widths) {
    return shift >= widths.in ? Wide{0} : saturate(round_shift(value, shift), widths.out);
}

/// Shift right by a signed number; left where it is negative.
inline Wide shift_signed(Wide value, int shift, unsigned out_bits) {
    return shift >= 0 ? saturate(round_shift(value, static_cast<unsigned>(shift)), out_bits)
                      : saturate(value * (Wide{1} << -shift), out_bits);
}

inline std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) {
    return (value + unit - 1) / unit * unit;
}

}  // namespace npuscope::oracle
