// SPDX-License-Identifier: Apache-2.0
#include "models/base/finding.h"

#include <algorithm>

namespace npuscope {

void FindingLog::add(Finding finding) {
    const auto same = [&](const Finding& other) {
        return other.kind == finding.kind && other.unit == finding.unit &&
               other.surface == finding.surface && other.operation == finding.operation &&
               (!finding.surface.empty() || other.message == finding.message);
    };
    if (std::ranges::none_of(findings_, same)) {
        findings_.push_back(std::move(finding));
    }
}

bool FindingLog::has_errors() const {
    return std::ranges::any_of(
        findings_, [](const Finding& finding) { return finding.severity == Severity::Error; });
}

}  // namespace npuscope
