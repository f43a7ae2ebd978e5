// SPDX-License-Identifier: Apache-2.0
// The surfaces of a plan by name: inputs, results of layers, and images of weights and operands. A
// result is there from a layer's last interrupt on, until its memory is used again.
#pragma once

#include <vector>

#include "sim/compile/nvdla/plan.h"
#include "sim/program/program.h"

namespace npuscope {

std::vector<NamedSurface> plan_surfaces(const Plan& plan);

}  // namespace npuscope
