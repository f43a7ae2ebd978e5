// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

#include "sim/check/causes.h"
#include "sim/check/check_report.h"
#include "sim/check/rules.h"
#include "sim/config/diagnostic_report.h"

namespace npuscope {
namespace {

/// SARIF's levels have the same names as our severities.
Json rule_json(const std::string& id) {
    Json rule{{"id", id}};
    if (const Rule* known = find_rule(id)) {
        rule["shortDescription"]["text"] = std::string(known->sentence);
        rule["fullDescription"]["text"] =
            std::string(known->sentence) + " Source: " + std::string(known->source) + '.';
        rule["defaultConfiguration"]["level"] = std::string(enum_name(known->severity));
    }
    return rule;
}

/// A path as a URI reference: bytes that mean something else in one are `%` and two digits.
/// source: RFC 3986, section 2.1
std::string uri_of(const std::string& path) {
    std::string uri;
    for (const char letter : path) {
        const auto byte = static_cast<unsigned char>(letter);
        const bool plain = std::isalnum(byte) != 0 ||
                           std::string_view("-._~/").find(letter) != std::string_view::npos;
        uri += plain ? std::string(1, letter) : fmt::format("%{:02X}", byte);
    }
    return uri;
}

Json location_json(const Diagnostic& finding) {
    Json location;
    if (!finding.place.file.empty()) {
        Json& physical = location["physicalLocation"];
        physical["artifactLocation"]["uri"] = uri_of(finding.place.file);
        if (finding.place.line > 0) {
            physical["region"]["startLine"] = finding.place.line;
            physical["region"]["startColumn"] = std::max(1U, finding.place.column);
        }
    }
    if (!finding.register_name.empty()) {
        location["logicalLocations"] = {{{"name", finding.register_name}, {"kind", "resource"}}};
    }
    return location;
}

}  // namespace

std::string check_sarif(const CheckReport& report, const std::string& version) {
    std::map<std::string, std::size_t> indices;
    Json rules = Json::array();
    Json results = Json::array();
    const std::vector<std::optional<std::size_t>> causes = causes_of(report);
    for (std::size_t i = 0; i < causes.size(); ++i) {
        const Diagnostic& finding = report.findings[i];
        const auto [rule, fresh] = indices.emplace(finding.id, rules.size());
        if (fresh) {
            rules.push_back(rule_json(finding.id));
        }
        Json result{{"ruleId", finding.id},
                    {"ruleIndex", rule->second},
                    {"level", std::string(enum_name(finding.severity))}};
        result["message"]["text"] =
            finding.sentence + (finding.remedy.empty() ? "" : " (" + finding.remedy + ")");
        if (Json location = location_json(finding); !location.empty()) {
            result["locations"] = Json::array({std::move(location)});
        }
        if (causes[i]) {
            const Diagnostic& cause = report.findings[*causes[i]];
            Json related = location_json(cause);
            related["message"]["text"] = "follows from: " + cause.sentence;
            result["relatedLocations"] = Json::array({std::move(related)});
        }
        result["properties"] = diagnostic_json(finding);
        results.push_back(std::move(result));
    }
    Json run;
    run["tool"]["driver"] = {
        {"name", "npuscope"}, {"version", version}, {"rules", std::move(rules)}};
    run["results"] = std::move(results);
    const Json log{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                   {"version", "2.1.0"},
                   {"runs", Json::array({std::move(run)})}};
    return log.dump(2, ' ', true, Json::error_handler_t::replace) + '\n';
}

}  // namespace npuscope
