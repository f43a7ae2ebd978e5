// SPDX-License-Identifier: Apache-2.0
#include "sim/check/found.h"

#include <algorithm>

namespace npuscope {

bool CheckReport::clean() const {
    return std::ranges::all_of(
        found, [](const Found& one) { return one.finding.severity == Severity::Note; });
}

void FoundList::add(Found found) {
    const auto same = [&](const Found& other) {
        return other.finding.id == found.finding.id &&
               other.finding.surface == found.finding.surface &&
               other.finding.operation == found.finding.operation &&
               other.register_name == found.register_name &&
               (!found.finding.operation.empty() || !found.register_name.empty() ||
                other.finding.sentence == found.finding.sentence);
    };
    if (std::ranges::none_of(list_, same)) {
        list_.push_back(std::move(found));
    }
}

}  // namespace npuscope
