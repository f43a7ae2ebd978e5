// SPDX-License-Identifier: Apache-2.0
// A second, simple implementation of the SDP's shifters: magnitudes, 128 bits, no tricks.
#pragma once

#include <cstdint>

namespace npuscope::oracle {

__extension__ typedef __int128 Wide;

inline Wide clamp(Wide value, unsigned bits) {
    const Wide high = (Wide{1} << (bits - 1U)) - 1;
    const Wide low = -high - 1;
    return value < low ? low : (value > high ? high : value);
}

/// value / 2^shift, ties away from zero.
inline Wide shift_right(Wide value, unsigned shift) {
    if (shift >= 100U) {
        return 0;
    }
    const Wide magnitude = value < 0 ? -value : value;
    const Wide half = shift == 0 ? Wide{0} : Wide{1} << (shift - 1U);
    const Wide quotient = (magnitude + half) / (Wide{1} << shift);
    return value < 0 ? -quotient : quotient;
}

}  // namespace npuscope::oracle
