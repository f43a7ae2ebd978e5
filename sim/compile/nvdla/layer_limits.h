// SPDX-License-Identifier: Apache-2.0
// Sizes that registers can hold.
#pragma once

#include <string>

#include "sim/model/network_shapes.h"

namespace npuscope {

/// ConfigError where a cube is larger than any register says.
void check_cube(const std::string& subject, const Shape& shape);
/// ConfigError names the layer whose result, kernel, stride or padding is too large.
void check_limits(const Layer& layer, const LayerShapes& shapes);

}  // namespace npuscope
