// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/tinpu/restriction_check.h"

#include <optional>

namespace npuscope {

const PatternLimits* Restrictions::find(const std::vector<PatternLimits>& rows, Pattern pattern) {
    for (const PatternLimits& row : rows) {
        if (row.pattern == pattern) {
            return &row;
        }
    }
    return nullptr;
}

CheckedLayer check_restrictions(const RestrictionCheck& check, const Candidate& candidate) {
    Diagnostics common = candidate.problems;
    check_shapes(check, candidate, common);
    check_maps(check, candidate, common);
    if (candidate.is_pool()) {
        check_sequence(check, candidate, check.restrictions.pooling, common);
        return {0, std::move(common)};
    }
    const NumberRange range = weight_range(candidate.weights);
    check_weights(check, candidate, common);
    std::optional<CheckedLayer> narrowest;
    for (const WeightWidths& widths : check.restrictions.weights) {
        const double limit = static_cast<double>(std::uint64_t{1} << (widths.bits - 1));
        const bool last = &widths == &check.restrictions.weights.back();
        if ((range.low < -limit || range.high > limit - 1) && !last) {
            continue;
        }
        CheckedLayer layer{widths.bits, common};
        check_sequence(check, candidate, widths, layer.problems);
        check_fc_inputs(check, candidate, widths, layer.problems);
        if (layer.problems.size() == common.size()) {
            return layer;
        }
        if (!narrowest) {
            narrowest = std::move(layer);
        }
    }
    return narrowest ? *narrowest : CheckedLayer{0, std::move(common)};
}

}  // namespace npuscope
