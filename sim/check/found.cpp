// SPDX-License-Identifier: Apache-2.0
#include "sim/check/found.h"

#include <algorithm>

namespace npuscope {

bool CheckReport::clean() const {
    return std::ranges::all_of(
        found, [](const Found& one) { return one.finding.severity == Severity::Note; });
}

void add_findings(const Diagnostics& findings, std::vector<Found>& found) {
    for (const Diagnostic& finding : findings) {
        Found& one = found.emplace_back();
        one.finding = finding;
        one.register_name = finding.register_name;
        one.remedy = finding.remedy;
    }
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
