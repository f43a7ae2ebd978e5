// SPDX-License-Identifier: Apache-2.0
// What is read from the catalogue of rules: the row of an id, and the list for people.
#include <fmt/format.h>

#include <algorithm>

#include "sim/check/rules.h"

namespace npuscope {
namespace {

/// `*` in a row's id stands for digits.
bool matches(std::string_view pattern, std::string_view id) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) {
        return pattern == id;
    }
    const std::string_view head = pattern.substr(0, star);
    const std::string_view tail = pattern.substr(star + 1);
    if (id.size() <= head.size() + tail.size() || !id.starts_with(head) || !id.ends_with(tail)) {
        return false;
    }
    const std::string_view number = id.substr(head.size(), id.size() - head.size() - tail.size());
    return std::ranges::all_of(number, [](char one) { return one >= '0' && one <= '9'; });
}

}  // namespace

const Rule* find_rule(std::string_view id) {
    const std::span all = rules();
    const auto exact = std::ranges::lower_bound(all, id, {}, &Rule::id);
    if (exact != all.end() && exact->id == id) {
        return &*exact;
    }
    const auto rule =
        std::ranges::find_if(all, [&](const Rule& row) { return matches(row.id, id); });
    return rule == all.end() ? nullptr : &*rule;
}

std::string rules_text(std::string_view prefix, std::string_view command) {
    std::string text;
    for (const Rule& rule : rules()) {
        if (rule.id.starts_with(prefix) && rule.applied.find(command) != std::string_view::npos) {
            text += fmt::format("{:<24}{:<8} {}\n    {}\n    source: {}\n", rule.id,
                                enum_name(rule.severity), rule.applied, rule.sentence, rule.source);
        }
    }
    return text;
}

std::string rules_markdown() {
    std::string text =
        "# Rules\n\n"
        "Every finding that `check`, `run` and `plan` report carries the id of a rule. This page "
        "is the output of `npuscope list rules --markdown`. The column *rule* says what must hold; "
        "a finding says where it does not. Where the severity of a rule varies, its row has the "
        "most severe. A run that fails also reports what `check` finds.\n\n"
        "| id | severity | reported by | rule | source |\n|---|---|---|---|---|\n";
    for (const Rule& rule : rules()) {
        text += fmt::format("| `{}` | {} | {} | {} | {} |\n", rule.id, enum_name(rule.severity),
                            rule.applied, rule.sentence, rule.source);
    }
    return text;
}

}  // namespace npuscope
