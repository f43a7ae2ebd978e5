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

namespace {

std::string proof_text(const ProofLine& line, std::size_t width) {
    std::string verdict = fmt::format("proved: {} equal", counted(line.elements, "element"));
    if (line.status != ProofStatus::Proved) {
        verdict = line.status == ProofStatus::Differs ? "differs from this operation"
                                                      : "not proved: " + line.reason;
    }
    const std::string meaning = line.meaning.empty() ? "" : line.meaning + ": ";
    return wrapped(fmt::format("{}: {}{}", line.operation, meaning, verdict), 0, 4, width);
}

std::string proof_summary(const CheckReport& report, std::size_t width) {
    const auto count = [&](ProofStatus status) {
        return std::ranges::count(report.proof, status, &ProofLine::status);
    };
    return wrapped(fmt::format("{}: {} proved, {} not proved, {} {}",
                               counted(report.proof.size(), "result"), count(ProofStatus::Proved),
                               count(ProofStatus::NotProved), count(ProofStatus::Differs),
                               count(ProofStatus::Differs) == 1 ? "differs" : "differ"),
                   0, 4, width);
}

}  // namespace

std::string check_text(const CheckReport& report, std::size_t width) {
    std::string text;
    for (const ProofLine& line : report.proof) {
        text += proof_text(line, width);
    }
    if (!report.proof.empty()) {
        text += proof_summary(report, width);
    }
    for (const LayerLine& line : report.layers) {
        text += wrapped(fmt::format("layer {}: {}", line.layer, line.status), 0, 4, width);
    }
    for (const Diagnostic& finding : report.findings) {
        if (finding.id == "not_proved") {  // the line says so
            continue;
        }
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
    for (const ProofLine& line : report.proof) {
        object["proof"].push_back({{"operation", line.operation},
                                   {"unit", line.unit},
                                   {"meaning", line.meaning},
                                   {"status", enum_name(line.status)},
                                   {"reason", line.reason},
                                   {"elements", line.elements}});
    }
    for (const LayerLine& line : report.layers) {
        object["layers"].push_back({{"layer", line.layer}, {"status", line.status}});
    }
    object["findings"] = Json::array();
    for (const Diagnostic& finding : report.findings) {
        object["findings"].push_back(diagnostic_json(finding));
    }
    return object.dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

}  // namespace npuscope
