// SPDX-License-Identifier: Apache-2.0
#include "sim/check/check_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/config/diagnostic_report.h"

namespace npuscope {

bool CheckReport::clean() const {
    return std::ranges::all_of(
        findings, [](const Diagnostic& finding) { return finding.severity == Severity::Note; });
}

std::string check_text(const CheckReport& report, std::size_t width) {
    std::string text;
    for (const Diagnostic& finding : report.findings) {
        text += diagnostic_text(finding, 0, 1, width);
    }
    const auto count = [&](Severity severity) {
        const auto findings = std::ranges::count(report.findings, severity, &Diagnostic::severity);
        return counted(static_cast<std::uint64_t>(findings), enum_name(severity));
    };
    return text + wrapped(fmt::format("{} on {}: {}, {}: {}, {}, {}", report.subject, report.npu,
                                      counted(report.operations, "operation"),
                                      counted(report.surfaces, "surface"), count(Severity::Error),
                                      count(Severity::Warning), count(Severity::Note)),
                          0, 4, width);
}

std::string check_json(const CheckReport& report) {
    Json object;
    object["subject"] = report.subject;
    object["npu"] = report.npu;
    object["status"] = report.clean() ? "clean" : "found";
    object["operations"] = report.operations;
    object["surfaces"] = report.surfaces;
    object["findings"] = Json::array();
    for (const Diagnostic& finding : report.findings) {
        object["findings"].push_back(diagnostic_json(finding));
    }
    return object.dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

}  // namespace npuscope
