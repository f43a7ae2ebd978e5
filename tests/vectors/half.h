// SPDX-License-Identifier: Apache-2.0
// IEEE half precision to double and back, to nearest even, for values of test vectors.
#pragma once

#include <cmath>
#include <cstdint>

namespace npuscope::vectors {

inline double half_to_double(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31;
    const double fraction = bits & 1023;
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

inline std::uint16_t double_to_half(double value) {
    const unsigned sign = std::signbit(value) ? 0x8000U : 0U;
    const double magnitude = std::fabs(value);
    if (magnitude == 0) {
        return static_cast<std::uint16_t>(sign);
    }
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    exponent = exponent < -13 ? -13 : exponent;
    const double units = std::nearbyint(std::ldexp(magnitude, 11 - exponent));
    const auto mantissa = static_cast<unsigned>(units);  // 0 to 2048
    return static_cast<std::uint16_t>(sign |
                                      (static_cast<unsigned>(exponent + 13) * 1024 + mantissa));
}

}  // namespace npuscope::vectors
