// SPDX-License-Identifier: Apache-2.0
#include "models/base/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/rule_ids.h"

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

namespace {

/// A key shared by a finding and its repeats: the relevant parts, each with its length. An overlap
/// of described surfaces is about two of them, and only the sentence has the other one.
std::string repeat_key(const Diagnostic& finding) {
    const bool located =
        !finding.register_name.empty() || (!finding.surface.empty() && !finding.operation.empty());
    std::string key;
    for (const std::string* part : {&finding.id, &finding.unit, &finding.register_name,
                                    &finding.surface, &finding.operation}) {
        key += fmt::format("{}:{}", part->size(), *part);
    }
    const bool of_two = finding.id == rule_ids::surface_overlap && finding.operation.empty();
    return located && !of_two ? key : key + finding.sentence;
}

}  // namespace

void DiagnosticLog::add(Diagnostic finding) {
    if (known_.insert(repeat_key(finding)).second) {
        if (place_of_ && finding.place.file.empty()) {
            finding.place = place_of_(finding);
        }
        findings_.push_back(std::move(finding));
    }
}

bool DiagnosticLog::has_errors() const {
    return std::ranges::any_of(
        findings_, [](const Diagnostic& finding) { return finding.severity == Severity::Error; });
}

}  // namespace npuscope
