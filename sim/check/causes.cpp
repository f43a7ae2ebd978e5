// SPDX-License-Identifier: Apache-2.0
#include "sim/check/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace npuscope {

int remoteness(const Diagnostic& finding) {
    constexpr std::array surfaces{"lines_overlap",  "surface_overlap",     "partly_loaded",
                                  "partly_written", "load_overlap",        "uninitialised_read",
                                  "never_loaded",   "overwritten_operand", "stride_mismatch",
                                  "race",           "result_lost"};
    constexpr std::array ends{"compares_no_result", "compares_unwritten", "compares_partly",
                              "compared_early",     "check_not_made",     "never_ends",
                              "loaded_unread",      "partly_unread",      "result_unused"};
    constexpr std::array causes{"never_starts", "check_not_made"};
    if (finding.severity == Severity::Note) {
        return 4;
    }
    if (std::ranges::find(causes, finding.id) != causes.end()) {
        return 0;
    }
    if (std::ranges::find(ends, finding.id) != ends.end()) {
        return 3;
    }
    return std::ranges::find(surfaces, finding.id) != surfaces.end() ? 2 : 1;
}

namespace {

/// What findings of one mistake have in common; empty: nothing is known.
std::string chain_of(const CheckReport& report, const Diagnostic& finding) {
    if (finding.operation.empty()) {
        return finding.surface.empty() ? "" : "surface " + finding.surface;
    }
    const auto chain = report.chains.find(finding.operation);
    return chain == report.chains.end() ? finding.operation : chain->second;
}

bool is_one_of(std::span<const std::string_view> ids, const Diagnostic& finding) {
    return std::ranges::find(ids, finding.id) != ids.end();
}

/// An operation that does not start leaves its groups and its partners to the ones after it.
constexpr std::array<std::string_view, 3> stopping{"register_value", "never_starts",
                                                   "register_in_use"};
constexpr std::array<std::string_view, 3> stopped{"register_in_use", "never_starts",
                                                  "shape_mismatch"};
constexpr const char* of_all = "";
constexpr const char* of_order = "order";

}  // namespace

std::vector<std::optional<std::size_t>> causes_of(const CheckReport& report) {
    constexpr int last = 3;  // what comes of a mistake in the end
    const Diagnostics& findings = report.findings;
    std::vector<std::optional<std::size_t>> causes(findings.size());
    // warnings and errors that stand for themselves, by what they share with others
    std::unordered_map<std::string, std::vector<std::size_t>> roots;
    for (std::size_t i = 0; i < findings.size(); ++i) {
        const Diagnostic& finding = findings[i];
        if (finding.severity == Severity::Note) {
            continue;
        }
        const int distance = remoteness(finding);
        const auto first_of = [&](const std::string& shared, int most) {
            const std::vector<std::size_t>& known = roots[shared];
            const auto root = std::ranges::find_if(known, [&](std::size_t one) {
                return findings[one].severity >= finding.severity &&
                       remoteness(findings[one]) <= most;
            });
            return root == known.end() ? std::nullopt : std::optional(*root);
        };
        const std::string chain = chain_of(report, finding);
        const std::string write =
            finding.register_name.empty() || finding.place.line == 0
                ? ""
                : fmt::format("{} at {}", finding.register_name, to_string(finding.place));
        for (const std::string& shared : {write, chain}) {
            if (!causes[i] && !shared.empty()) {
                causes[i] = first_of(shared, distance);
            }
        }
        if (!causes[i] && is_one_of(stopped, finding)) {
            causes[i] = first_of(of_order, distance);
        }
        if (!causes[i] && distance == last) {
            causes[i] = first_of(of_all, last - 1);
        }
        if (!causes[i]) {
            const char* const order = is_one_of(stopping, finding) ? of_order : of_all;
            for (const std::string& shared : std::set<std::string>{of_all, order, write, chain}) {
                roots[shared].push_back(i);
            }
        }
    }
    return causes;
}

}  // namespace npuscope
