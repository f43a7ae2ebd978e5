// SPDX-License-Identifier: Apache-2.0
#include "models/cdma/cdma_timing.h"

#include <algorithm>

namespace npuscope {

Cycles line_pace(const DataFetchShape& shape, std::uint32_t surfaces) {
    const std::uint64_t beats = shape.line_beats * surfaces;
    if (surfaces < 3) {
        return Cycles(beats);
    }
    if (surfaces < shape.group) {
        // source: nv_small RTL, measured: 3.5 cycles for every three beats
        return Cycles(divide_up(beats * 7, 6));
    }
    // source: nv_small RTL, measured: 1.25 cycles a beat
    return Cycles(divide_up(beats * 5, 4)) + shape.row_overhead;
}

std::vector<FetchStep> data_fetch_steps(const DataFetchShape& shape) {
    std::vector<FetchStep> steps;
    for (std::uint32_t first = 0; first < shape.surfaces; first += shape.group) {
        const std::uint32_t surfaces = std::min(shape.group, shape.surfaces - first);
        const Cycles pace = line_pace(shape, surfaces);
        for (std::uint32_t line = 0; line < shape.lines; ++line) {
            steps.push_back({first, surfaces, line, pace});
        }
    }
    return steps;
}

}  // namespace npuscope
