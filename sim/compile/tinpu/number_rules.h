// SPDX-License-Identifier: Apache-2.0
// Rules over a layer's numbers: weights, bias, scale, shift, clip ranges, feature maps.
#pragma once

#include <vector>

#include "sim/compile/tinpu/restriction_check.h"

namespace npuscope {

/// Of all weights; 0..0 where there are none.
NumberRange weight_range(const GraphValue& weights);

void check_weights(const RestrictionCheck& check, const Candidate& candidate,
                   std::vector<Violation>& violations);
/// Bias, scale, shift and clips, with the widths that go with the layer's weights.
void check_sequence(const RestrictionCheck& check, const Candidate& candidate,
                    const WeightWidths& widths, std::vector<Violation>& violations);
/// Input and residual are integers of a width that the hardware has.
void check_maps(const RestrictionCheck& check, const Candidate& candidate,
                std::vector<Violation>& violations);

}  // namespace npuscope
