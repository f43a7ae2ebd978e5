// SPDX-License-Identifier: Apache-2.0
// Tensors of several inputs as one, along their first size.
#pragma once

#include <cstddef>

#include "sim/model/graph.h"

namespace npuscope {

/// `more` after the numbers of `all`, along the first size.
void add_along_first(GraphValue& all, const GraphValue& more);
/// One of so many equal parts along the first size.
GraphValue part_along_first(const GraphValue& all, std::size_t part, std::size_t parts);

}  // namespace npuscope
