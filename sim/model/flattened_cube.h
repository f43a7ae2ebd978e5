// SPDX-License-Identifier: Apache-2.0
// A product of all numbers reads the cube that is flattened before it: the same numbers, from where
// they lie.
#pragma once

#include <string>

#include "sim/model/graph.h"

namespace npuscope {

struct CubeRead {
    std::string tensor;
    Sizes cube;  ///< N C H W
};

/// Looks through the views before `read`, where it is one row: the first cube of one image that they
/// begin with, else what is given.
CubeRead flattened_cube(const GraphView& view, CubeRead read);

}  // namespace npuscope
