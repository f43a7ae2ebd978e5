// SPDX-License-Identifier: Apache-2.0
// How feature maps of a model lie in int8: each value less the map's zero, the largest as 127. So
// the convertor's saturation is the upper clip of every map, and the lower one of those that use
// all 256 codes.
#pragma once

#include <cstdint>

#include "sim/model/graph.h"

namespace npuscope {

inline bool uses_all_codes(const NumberRange& range) { return range.high - range.low == 255; }

/// Of a map whose numbers fit 8 bits, signed or unsigned.
inline std::int32_t stored_zero(const NumberRange& range) {
    return static_cast<std::int32_t>(range.high) - 127;
}

}  // namespace npuscope
