// SPDX-License-Identifier: Apache-2.0
// Rules over a layer's sizes: directions, batch, groups, channels, kernel, strides, residual.
#pragma once

#include <vector>

#include "sim/compile/tinpu/restriction_check.h"

namespace npuscope {

void check_shapes(const RestrictionCheck& check, const Candidate& candidate,
                  std::vector<Violation>& violations);

/// The guideline for FC, which goes by the width of the weights.
void check_fc_inputs(const RestrictionCheck& check, const Candidate& candidate,
                     const WeightWidths& widths, std::vector<Violation>& violations);

}  // namespace npuscope
