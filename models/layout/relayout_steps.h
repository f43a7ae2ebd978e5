// SPDX-License-Identifier: Apache-2.0
// Sizes of steps through memory, and counts that divide.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "models/layout/relayout_streams.h"

namespace npuscope {

inline std::uint64_t size_of(std::int64_t step) {
    return static_cast<std::uint64_t>(std::abs(step));
}

/// Whether the step goes from line to line of the caches.
inline bool is_aligned(std::int64_t step) { return size_of(step) % line_bytes == 0; }

/// Of `count`; `most` at most, 1 at least.
inline std::uint64_t largest_divisor(std::uint64_t count, std::uint64_t most) {
    std::uint64_t divisor = std::max<std::uint64_t>(std::min(count, most), 1);
    while (count % divisor != 0) {
        --divisor;
    }
    return divisor;
}

}  // namespace npuscope
