// SPDX-License-Identifier: Apache-2.0
// Whether a preset's hardware takes a candidate: every rule of its table, and what breaks it.
#pragma once

#include <map>

#include "sim/compile/tinpu/restrictions.h"
#include "sim/model/candidate.h"
#include "sim/model/graph_view.h"
#include "sim/model/number_ranges.h"

namespace npuscope {

struct RestrictionCheck {
    const GraphView& view;
    const Restrictions& restrictions;
    const std::map<std::string, NumberFacts>& facts;
};

struct CheckedLayer {
    std::uint32_t weight_bits = 0;  ///< 0: no weights
    std::vector<Violation> violations;
};

/// Weights are taken to be as narrow as their numbers allow; wider where only that breaks no rule.
CheckedLayer check_restrictions(const RestrictionCheck& check, const Candidate& candidate);

/// `t0 l1 b0 r1`.
std::string padding_text(const Window& window);

}  // namespace npuscope
