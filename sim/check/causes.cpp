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

/// Warnings and errors that stand for themselves, by what they share with others.
class Roots {
 public:
    explicit Roots(const Diagnostics& findings) : findings_(findings) {}

    /// The first one of `shared` that is as grave as the finding and not farther off than `most`.
    std::optional<std::size_t> first_of(const std::string& shared, const Diagnostic& finding,
                                        int most) const {
        const auto known = roots_.find(shared);
        if (known == roots_.end()) {
            return std::nullopt;
        }
        const auto root = std::ranges::find_if(known->second, [&](std::size_t one) {
            return findings_[one].severity >= finding.severity &&
                   remoteness(findings_[one]) <= most;
        });
        return root == known->second.end() ? std::nullopt : std::optional(*root);
    }
    void add(std::size_t index, const std::set<std::string>& shared) {
        for (const std::string& one : shared) {
            roots_[one].push_back(index);
        }
    }

 private:
    const Diagnostics& findings_;
    std::unordered_map<std::string, std::vector<std::size_t>> roots_;
};

/// The write that a finding is about; empty: none.
std::string write_of(const Diagnostic& finding) {
    return finding.register_name.empty() || finding.place.line == 0
               ? ""
               : fmt::format("{} at {}", finding.register_name, to_string(finding.place));
}

}  // namespace

std::vector<std::optional<std::size_t>> causes_of(const CheckReport& report) {
    constexpr int last = 3;  // what comes of a mistake in the end
    std::vector<std::optional<std::size_t>> causes(report.findings.size());
    Roots roots(report.findings);
    for (std::size_t i = 0; i < causes.size(); ++i) {
        const Diagnostic& finding = report.findings[i];
        if (finding.severity == Severity::Note) {
            continue;
        }
        const int distance = remoteness(finding);
        std::set<std::string> shared{write_of(finding), chain_of(report, finding)};
        shared.erase("");
        for (const std::string& one : shared) {
            causes[i] = causes[i] ? causes[i] : roots.first_of(one, finding, distance);
        }
        if (!causes[i] && is_one_of(stopped, finding)) {
            causes[i] = roots.first_of(of_order, finding, distance);
        }
        if (!causes[i] && distance == last) {
            causes[i] = roots.first_of(of_all, finding, last - 1);
        }
        if (!causes[i]) {
            shared.insert({of_all, is_one_of(stopping, finding) ? of_order : of_all});
            roots.add(i, shared);
        }
    }
    return causes;
}

}  // namespace npuscope
