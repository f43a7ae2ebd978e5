// SPDX-License-Identifier: Apache-2.0
// A layer of maps of 16 bits as it was read from a model, before it is lowered (wide_layer.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/model/network.h"
#include "sim/model/window.h"

namespace npuscope {

inline constexpr double largest_wide = 32767;

struct WideGroup {
    LayerKind kind = LayerKind::Conv;
    Window window{};
    std::int64_t groups = 1;
    std::vector<double> weights{};  ///< kernel, channel, row, column; of the codes of int16
    std::vector<double> bias{};     ///< empty, or one per kernel; in units of the sums
    std::vector<double> factors{};  ///< int16: of a sum to a result, one or one per kernel
    bool relu = false;
    std::optional<double> most{};  ///< results are not above; of reals
    double first = 1;              ///< of a sum of maps: result steps of one of the first map's
    double second = 1;
    std::string problem{};
};

}  // namespace npuscope
