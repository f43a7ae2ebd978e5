// SPDX-License-Identifier: Apache-2.0
// Whether a preset's hardware takes a candidate: every rule of its table, and what breaks it.
#pragma once

#include "sim/compile/target.h"
#include "sim/compile/tinpu/restrictions.h"

namespace npuscope {

struct RestrictionCheck {
    const ModelFacts& model;
    const Restrictions& restrictions;
};

struct CheckedLayer {
    std::uint32_t weight_bits = 0;  ///< 0: no weights
    Diagnostics problems;           ///< rule, node, value, allowed values, the nearest of them
};

/// Weights are taken to be as narrow as their numbers allow; wider where only that breaks no rule.
CheckedLayer check_restrictions(const RestrictionCheck& check, const Candidate& candidate);

/// Rules over a layer's sizes: directions, batch, groups, channels, kernel, strides, residual.
void check_shapes(const RestrictionCheck& check, const Candidate& candidate, Diagnostics& problems);
/// The guideline for FC, which goes by the width of the weights.
void check_fc_inputs(const RestrictionCheck& check, const Candidate& candidate,
                     const WeightWidths& widths, Diagnostics& problems);

/// Of all weights; 0..0 where there are none.
NumberRange weight_range(const GraphValue& weights);
void check_weights(const RestrictionCheck& check, const Candidate& candidate,
                   Diagnostics& problems);
/// Bias, scale, shift and clips, with the widths that go with the layer's weights.
void check_sequence(const RestrictionCheck& check, const Candidate& candidate,
                    const WeightWidths& widths, Diagnostics& problems);
/// Input and residual are integers of a width that the hardware has.
void check_maps(const RestrictionCheck& check, const Candidate& candidate, Diagnostics& problems);

}  // namespace npuscope
