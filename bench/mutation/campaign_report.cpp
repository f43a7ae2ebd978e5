// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/mutation/campaign.h"

namespace npuscope::bench {
namespace {

struct Counts {
    std::size_t tried = 0;
    std::size_t mattering = 0;
    std::size_t found = 0;
    std::size_t named = 0;
    std::size_t one_cause = 0;
    std::size_t hazards = 0;
    std::size_t hazards_found = 0;
    std::size_t harmless = 0;
    std::size_t warned = 0;

    void add(const TrialRow& row) {
        ++tried;
        if (matters(row.effect)) {
            ++mattering;
            found += row.answer.found ? 1U : 0U;
            named += row.answer.named ? 1U : 0U;
            one_cause += row.answer.causes == 1 ? 1U : 0U;
        } else if (row.effect == Effect::Hazard || row.effect == Effect::Masked) {
            ++hazards;
            hazards_found += row.answer.found ? 1U : 0U;
        } else {
            ++harmless;
            warned += row.answer.found ? 1U : 0U;
        }
    }
};

double percent(std::size_t part, std::size_t all) {
    return all == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

std::string share(std::size_t part, std::size_t all) {
    return all == 0 ? "-" : fmt::format("{:.1f} %", percent(part, all));
}

std::string line_of(std::string_view name, const Counts& counts) {
    return fmt::format("{:<20} {:>7} {:>7} {:>8} {:>8} {:>9} {:>8} {:>8} {:>9} {:>7}\n", name,
                       counts.tried, counts.mattering, share(counts.found, counts.mattering),
                       share(counts.named, counts.mattering), share(counts.one_cause, counts.found),
                       counts.hazards, share(counts.hazards_found, counts.hazards), counts.harmless,
                       share(counts.warned, counts.harmless));
}

std::string head() {
    return fmt::format("{:<20} {:>7} {:>7} {:>8} {:>8} {:>9} {:>8} {:>8} {:>9} {:>7}\n", "kind",
                       "tried", "matter", "found", "named", "one cause", "hazards", "found",
                       "harmless", "warned");
}

std::string table_of(const std::vector<TrialRow>& rows, bool content) {
    std::map<std::string, Counts> by_kind;
    Counts all;
    for (const TrialRow& row : rows) {
        if (row.content == content) {
            by_kind[row.kind].add(row);
            all.add(row);
        }
    }
    if (all.tried == 0) {
        return {};
    }
    std::string text = head();
    for (const MistakeKind& kind : mistake_kinds()) {
        if (const auto found = by_kind.find(std::string(kind.name)); found != by_kind.end()) {
            text += line_of(kind.name, found->second);
        }
    }
    return text + line_of("all", all);
}

template <class Is>
std::string examples_of(const std::vector<TrialRow>& rows, const char* title, std::size_t most,
                        const Is& is) {
    std::map<std::string, std::size_t> told;
    std::string text;
    for (const TrialRow& row : rows) {
        if (!row.content && is(row) && told[row.kind]++ < most) {
            text += fmt::format(
                "  {} [{}] {}: {}{}\n", row.kind, effect_name(row.effect), row.program, row.what,
                row.answer.found ? fmt::format("\n      {} {}", row.answer.id, row.answer.first)
                                 : "");
        }
    }
    return text.empty() ? text : fmt::format("\n{}\n{}", title, text);
}

std::string quoted(std::string text) {
    for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) {
        text.insert(at, 1, '"');
    }
    return '"' + text + '"';
}

}  // namespace

Reached reached_by(const std::vector<TrialRow>& rows) {
    Counts all;
    for (const TrialRow& row : rows) {
        if (!row.content) {
            all.add(row);
        }
    }
    return {all.mattering, all.harmless, percent(all.found, all.mattering),
            percent(all.named, all.mattering), percent(all.warned, all.harmless)};
}

std::string campaign_csv(const CampaignResult& result) {
    std::string text = "program,kind,mistake,content,effect,found,named,causes,id,first\n";
    for (const TrialRow& row : result.rows) {
        text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", row.program, row.kind,
                            quoted(row.what), row.content ? 1 : 0, effect_name(row.effect),
                            row.answer.found ? 1 : 0, row.answer.named ? 1 : 0, row.answer.causes,
                            row.answer.id, quoted(row.answer.first));
    }
    return text;
}

std::string campaign_table(const CampaignResult& result, std::size_t examples) {
    std::string text = table_of(result.rows, false);
    if (const std::string contents = table_of(result.rows, true); !contents.empty()) {
        text += "\ncontents, which follow from what a layer is meant to compute\n" + contents;
    }
    const auto lost =
        static_cast<std::size_t>(std::ranges::count(result.rows, Effect::Lost, &TrialRow::effect));
    text +=
        fmt::format("\nwarnings and errors about good programs: {}\n", result.false_alarms.size());
    text += fmt::format("runs without an end of their own: {}\n", lost);
    for (const std::string& alarm : result.false_alarms) {
        text += "  " + alarm + "\n";
    }
    if (examples > 0) {
        text += examples_of(result.rows, "not found", examples, [](const TrialRow& row) {
            return matters(row.effect) && !row.answer.found;
        });
        text += examples_of(result.rows, "found, not named", examples, [](const TrialRow& row) {
            return matters(row.effect) && row.answer.found && !row.answer.named;
        });
        text += examples_of(
            result.rows, "without effect, warned of", examples,
            [](const TrialRow& row) { return row.effect == Effect::None && row.answer.found; });
    }
    return text;
}

}  // namespace npuscope::bench
