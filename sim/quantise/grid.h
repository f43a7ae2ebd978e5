// SPDX-License-Identifier: Apache-2.0
// The grid of a tensor of integers: which real numbers its integers stand for.
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

/// All integers of the type over the range, which is widened to hold 0 exactly: padding is 0. Of 16
/// bits its zero is 0: one step in 65,536 is not worth a zero point.
Grid grid_of(const NumberRange& range, ElementType type = ElementType::Int8);
/// The real number that is stored for another.
double on_grid(const Grid& grid, double real, ElementType type = ElementType::Int8);

/// Weights as integers of 8 or 16 bits without zero points, and their scales: one per kernel, along `axis`,
/// or one where that is negative. `least`: of a kernel's scale; empty: none.
struct QuantisedWeights {
    GraphValue integers;
    std::vector<double> scales;
};
QuantisedWeights quantise_weights(const GraphValue& weights, int axis,
                                  const std::vector<double>& least = {},
                                  ElementType type = ElementType::Int8);

}  // namespace npuscope
