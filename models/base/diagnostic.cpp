// SPDX-License-Identifier: Apache-2.0
#include "models/base/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>

namespace npuscope {

std::string to_string(const Place& place) {
    if (place.line == 0) {
        return place.file;
    }
    if (place.column == 0) {
        return fmt::format("{}:{}", place.file, place.line);
    }
    return fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

void DiagnosticLog::add(Diagnostic finding) {
    const auto same = [&](const Diagnostic& other) {
        const bool located = !finding.register_name.empty() ||
                             (!finding.surface.empty() && !finding.operation.empty());
        return other.id == finding.id && other.unit == finding.unit &&
               other.register_name == finding.register_name && other.surface == finding.surface &&
               other.operation == finding.operation &&
               (located || other.sentence == finding.sentence);
    };
    if (std::ranges::none_of(findings_, same)) {
        findings_.push_back(std::move(finding));
    }
}

bool DiagnosticLog::has_errors() const {
    return std::ranges::any_of(
        findings_, [](const Diagnostic& finding) { return finding.severity == Severity::Error; });
}

}  // namespace npuscope
