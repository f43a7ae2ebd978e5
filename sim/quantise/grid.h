// SPDX-License-Identifier: Apache-2.0
// The grid of an integer tensor: which real numbers its integers represent.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/config/element_type.h"
#include "sim/model/graph.h"

namespace npuscope {

/// real = (integer - zero) * scale
struct Grid {
    double scale = 1;
    double zero = 0;

    bool operator==(const Grid&) const = default;
};

/// All integers of the type over the range, which is widened to hold 0 exactly: padding is 0. For
/// 16 bits the zero point is 0: gaining one step in 65,536 is not worth a zero point.
Grid grid_of(const NumberRange& range, ElementType type = ElementType::Int8);
/// A real number rounded to the grid.
double on_grid(const Grid& grid, double real, ElementType type = ElementType::Int8);

/// Weights as 8- or 16-bit integers without zero points, and their scales: one per kernel, along
/// `axis`, or a single one if that is negative. `least`: minimum scale per kernel; empty: none.
struct QuantisedWeights {
    GraphValue integers;
    std::vector<double> scales;
};
QuantisedWeights quantise_weights(const GraphValue& weights, int axis,
                                  const std::vector<double>& least = {},
                                  ElementType type = ElementType::Int8);

}  // namespace npuscope
