// SPDX-License-Identifier: Apache-2.0
// Rules over a layer's sizes: directions, batch, groups, channels, kernel, strides, residual.
#pragma once

#include <vector>

#include "sim/pattern/restriction_check.h"

namespace npuscope {

void check_shapes(const RestrictionCheck& check, const Candidate& candidate,
                  std::vector<Violation>& violations);

}  // namespace npuscope
