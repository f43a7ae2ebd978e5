// SPDX-License-Identifier: Apache-2.0
#include "sim/check/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "sim/check/causes.h"
#include "sim/check/rules.h"
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

/// Notes of one kind are told once: those of one rule, or of one reason for the host.
std::string kind_of(const Diagnostic& note) {
    return note.unit == "host" ? note.id + ' ' + note.sentence : note.id;
}

/// Registers of one operation may be wrong independently of each other.
bool follows_surely(const Diagnostic& finding, const Diagnostic& cause) {
    return remoteness(finding) > remoteness(cause) ||
           remoteness(finding) != static_cast<int>(Shows::Register) ||
           finding.register_name == cause.register_name;
}

/// Causes with what follows from them beneath, one line each; notes of one kind once.
std::string findings_text(const CheckReport& report, std::size_t width) {
    const Diagnostics& findings = report.findings;
    const std::vector<std::optional<std::size_t>> causes = causes_of(report);
    std::vector<std::vector<const Diagnostic*>> following(findings.size());
    std::map<std::string, std::size_t> notes;  // of one kind
    for (std::size_t i = 0; i < findings.size(); ++i) {
        if (causes[i]) {
            following[*causes[i]].push_back(&findings[i]);
        }
        if (findings[i].severity == Severity::Note) {
            ++notes[kind_of(findings[i])];
        }
    }
    std::string text;
    for (std::size_t i = 0; i < findings.size(); ++i) {
        const Diagnostic& finding = findings[i];
        const std::size_t times =
            finding.severity == Severity::Note ? std::exchange(notes[kind_of(finding)], 0) : 1;
        if (causes[i] || times == 0 || rule_is(&Rule::own_line, finding.id)) {  // has its line
            continue;
        }
        text += diagnostic_text(finding, 0, times, width);
        for (const Diagnostic* one : following[i]) {
            const std::string place = to_string(one->place);
            const bool sure = follows_surely(*one, finding);
            text += wrapped(
                fmt::format("{}: {}{}{}: {} [{}]{}", sure ? "consequence" : "perhaps a consequence",
                            place, place.empty() ? "" : ": ", enum_name(one->severity),
                            one->sentence, one->id,
                            sure || one->remedy.empty() ? "" : "; " + one->remedy),
                4, 8, width);
        }
    }
    return text;
}

}  // namespace

void CheckReport::add(CheckReport part, const std::string& segment) {
    operations += part.operations;
    surfaces += part.surfaces;
    std::ranges::move(part.findings, std::back_inserter(findings));
    std::ranges::move(part.segment_maps, std::back_inserter(segment_maps));
    if (segment.empty()) {
        map = std::move(part.map);
    } else {
        segment_maps.emplace_back(segment, std::move(part.map));
    }
}

std::vector<MappedBytes> CheckReport::mapped_bytes() const {
    std::vector<MappedBytes> all = map.entries();
    for (const auto& [segment, part] : segment_maps) {
        for (MappedBytes& entry : part.entries()) {
            entry.segment = segment;
            all.push_back(std::move(entry));
        }
    }
    return all;
}

std::string memory_maps_text(const CheckReport& report, std::size_t width) {
    std::string text = memory_map_text(report.map, width);
    for (const auto& [segment, map] : report.segment_maps) {
        const std::string part = memory_map_text(map, width);
        text += part.empty() ? "" : segment + ": " + part;
    }
    return text;
}

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
    text += findings_text(report, width);
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
    const std::vector<std::optional<std::size_t>> causes = causes_of(report);
    for (std::size_t i = 0; i < causes.size(); ++i) {
        Json finding = diagnostic_json(report.findings[i]);
        if (causes[i]) {
            finding["follows"] = *causes[i];
        }
        object["findings"].push_back(std::move(finding));
    }
    if (Json map = memory_map_json(report.mapped_bytes()); !map.empty()) {
        object["memory_map"] = std::move(map);
    }
    return object.dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

}  // namespace npuscope
