// SPDX-License-Identifier: Apache-2.0
// The catalogue of rules: one row for each id that a diagnostic may carry, whichever command
// reports it. docs/rules.md is printed from it (`npuscope list rules --markdown`).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/base/diagnostic.h"

namespace npuscope {

/// How far from the mistake a finding shows it.
enum class Shows { Start, Register, Surface, End };

struct Rule {
    /// As a diagnostic has it; `*` stands for a number that depends on the NPU.
    std::string_view id;
    Severity severity;                  ///< the usual one; if it varies, the most severe
    std::string_view applied;           ///< commands that report it: `check`, `run`, `plan`
    std::string_view sentence;          ///< what the rule says
    std::string_view source;            ///< where it comes from
    std::optional<Severity> checked{};  ///< as `check` reports it, if a run is stricter
    Shows shows = Shows::Register;
    bool stops = false;    ///< the operation does not start: its group stays, its partners wait
    bool stopped = false;  ///< may be left by an earlier operation that did not start
    bool beside_verdict = false;   ///< without it the cycles would be misread
    bool hides_deviation = false;  ///< the measured deviation is not printed next to it
    bool own_line = false;         ///< a report has a line of its own for it
    bool of_order = false;         ///< about the order of statements: reported at the later one
    bool beside_others = false;    ///< not a mistake in a program without other mistakes
    /// This memory and its latency may hide it from a run, which then reports what a static check
    /// found, unless it reports the operation by the rule of this id.
    std::string_view told_as{};

    /// An operation that waits forever.
    constexpr bool hangs() const { return stops && shows == Shows::Start; }
    /// An operation whose registers make no job.
    constexpr bool refuses() const { return stops && !stopped; }
};

constexpr Rule of_surfaces(Rule rule) {
    rule.shows = Shows::Surface;
    return rule;
}
constexpr Rule of_the_end(Rule rule) {
    rule.shows = Shows::End;
    return rule;
}

constexpr Rule hidden_from_runs(Rule rule, std::string_view told_as) {
    rule.told_as = told_as;
    return rule;
}
/// The rule with one of the flags set.
constexpr Rule with(bool Rule::*flag, Rule rule) {
    rule.*flag = true;
    return rule;
}

/// Sorted by id.
std::span<const Rule> rules();
/// nullptr if no row has the id.
const Rule* find_rule(std::string_view id);
/// Whether the rule of an id has a flag.
inline bool rule_is(bool Rule::*flag, std::string_view id) {
    const Rule* rule = find_rule(id);
    return rule != nullptr && rule->*flag;
}

/// One headline, one sentence and one source per rule; only ids that begin with `prefix`, and rules
/// that `command` applies, if one is named.
std::string rules_text(std::string_view prefix, std::string_view command = {});
/// The page docs/rules.md.
std::string rules_markdown();

}  // namespace npuscope
