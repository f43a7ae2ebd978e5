// SPDX-License-Identifier: Apache-2.0
#include "sim/check/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>

#include "models/base/rule_ids.h"
#include "sim/check/rules.h"

namespace npuscope {

int remoteness(const Diagnostic& finding) {
    if (finding.severity == Severity::Note) {
        return 4;
    }
    const Rule* rule = find_rule(finding.id);
    return static_cast<int>(rule == nullptr ? Shows::Register : rule->shows);
}

namespace {

/// What findings of one mistake have in common; empty: nothing known.
std::string chain_of(const CheckReport& report, const Diagnostic& finding) {
    if (finding.operation.empty()) {
        return finding.surface.empty() ? "" : "surface " + finding.surface;
    }
    const auto chain = report.chains.find(finding.operation);
    return chain == report.chains.end() ? finding.operation : chain->second;
}

/// A surface that was never loaded lies at another address than what a finding about another
/// surface of its operation names: that one is not its cause.
bool is_apart(const Diagnostic& finding, const Diagnostic& cause) {
    return finding.id == rule_ids::never_loaded && finding.operation == cause.operation &&
           finding.register_name != cause.register_name && !finding.surface.empty() &&
           !cause.surface.empty() && finding.surface != cause.surface;
}

constexpr const char* of_all = "";
constexpr const char* of_order = "order";

/// Independent warnings and errors, by what they share with others.
class Roots {
 public:
    explicit Roots(const Diagnostics& findings) : findings_(findings) {}

    /// The first of `shared` at least as severe as the finding and not farther off than `most`.
    std::optional<std::size_t> first_of(const std::string& shared, const Diagnostic& finding,
                                        int most) const {
        const auto known = roots_.find(shared);
        if (known == roots_.end()) {
            return std::nullopt;
        }
        const auto root = std::ranges::find_if(known->second, [&](std::size_t one) {
            return findings_[one].severity >= finding.severity &&
                   remoteness(findings_[one]) <= most && !is_apart(finding, findings_[one]);
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
    constexpr auto last = static_cast<int>(Shows::End);
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
        const Rule* rule = find_rule(finding.id);
        if (!causes[i] && rule != nullptr && rule->stopped) {
            causes[i] = roots.first_of(of_order, finding, distance);
        }
        if (!causes[i] && distance == last) {
            causes[i] = roots.first_of(of_all, finding, last - 1);
        }
        if (!causes[i]) {
            shared.insert({of_all, rule != nullptr && rule->stops ? of_order : of_all});
            roots.add(i, shared);
        }
    }
    return causes;
}

}  // namespace npuscope
