// SPDX-License-Identifier: Apache-2.0
// The order and pace of the data fetch. Surfaces are taken in groups of up to four side by side:
// one line of each, then the next line. A pace is the shortest time of a step when nobody else uses
// the channel. Source: nv_small RTL, measured (fetch sweeps over width, height and channels).
#pragma once

#include <cstdint>
#include <vector>

#include "models/base/quantity.h"

namespace npuscope {

/// What the data fetch's time depends on.
struct DataFetchShape {
    std::uint32_t surfaces{0};
    std::uint32_t lines{0};
    std::uint64_t line_beats{0};  ///< beats of one line of one surface
    std::uint32_t group{4};       ///< surfaces side by side
    Cycles row_overhead{2};       ///< per line of a full group
};

/// One line of up to `group` neighbouring surfaces.
struct FetchStep {
    std::uint32_t first_surface;
    std::uint32_t surfaces;
    std::uint32_t line;
    Cycles pace;
};

std::vector<FetchStep> data_fetch_steps(const DataFetchShape& shape);

/// Cycles of one line of `surfaces` neighbouring surfaces.
Cycles line_pace(const DataFetchShape& shape, std::uint32_t surfaces);

}  // namespace npuscope
