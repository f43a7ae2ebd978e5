// SPDX-License-Identifier: Apache-2.0
#include "sim/report/finding_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include "sim/config/diagnostic_report.h"

namespace npuscope {
namespace {

std::string file_name(const Place& place) {
    return std::filesystem::path(place.file).filename().string();
}

}  // namespace

std::string short_place(const Place& place) {
    return to_string({file_name(place), place.line, place.column});
}

std::string findings_text(const std::vector<Diagnostic>& findings, bool notes, std::size_t width) {
    struct Entry {
        const Diagnostic* finding;
        std::size_t times;
    };
    std::vector<Entry> entries;
    std::unordered_map<std::string_view, std::size_t> notes_of;  // one entry a rule
    for (const Diagnostic& finding : findings) {
        const bool is_new = finding.severity != Severity::Note ||
                            notes_of.emplace(finding.id, entries.size()).second;
        is_new ? entries.push_back({&finding, 1}) : void(++entries[notes_of.at(finding.id)].times);
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.finding->severity > b.finding->severity;
    });
    std::string text;
    std::size_t left_out = 0;
    for (const Entry& entry : entries) {
        if (entry.finding->severity == Severity::Note && !notes) {
            left_out += entry.times;
            continue;
        }
        Diagnostic shown = *entry.finding;
        shown.place.file = file_name(shown.place);
        text += diagnostic_text(shown, 2, entry.times, width);
    }
    if (left_out > 0) {
        text += fmt::format("  {} note{} more (--operations lists them)\n", left_out,
                            left_out == 1 ? "" : "s");
    }
    return text.empty() ? text : "\nfindings\n" + text;
}

}  // namespace npuscope
