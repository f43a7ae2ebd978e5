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
    Severity severity;                  ///< the usual one; where it varies, the gravest
    std::string_view applied;           ///< commands that report it: `check`, `run`, `plan`
    std::string_view sentence;          ///< what the rule says
    std::string_view source;            ///< where it comes from
    std::optional<Severity> checked{};  ///< as `check` reports it, where a run is stricter
    Shows shows = Shows::Register;
    bool stops = false;    ///< the operation does not start: its group stays, its partners wait
    bool stopped = false;  ///< what an operation before it may leave behind that did not start
    bool beside_verdict = false;   ///< without it the cycles say something else than they mean
    bool hides_deviation = false;  ///< the deviation that was measured is not told beside it
    bool own_line = false;         ///< a report has a line of its own for it
    bool of_order = false;         ///< about the order of statements: it stands at the later one
    bool beside_others = false;    ///< no mistake in a program that has no other
    /// This memory and its latency may hide it from a run, which then tells what a static check
    /// found, unless it reports the operation by the rule of this id.
    std::string_view told_as{};

    /// An operation that waits for ever.
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
/// With one of the flags set.
constexpr Rule with(bool Rule::*flag, Rule rule) {
    rule.*flag = true;
    return rule;
}

/// Sorted by id.
std::span<const Rule> rules();
/// nullptr where no row has the id.
const Rule* find_rule(std::string_view id);
/// Whether the rule of an id has a flag.
inline bool rule_is(bool Rule::*flag, std::string_view id) {
    const Rule* rule = find_rule(id);
    return rule != nullptr && rule->*flag;
}

/// One line of headline, one sentence and one source each; only ids that begin with `prefix`, and
/// rules that `command` applies, where one is named.
std::string rules_text(std::string_view prefix, std::string_view command = {});
/// The page docs/rules.md.
std::string rules_markdown();

}  // namespace npuscope
