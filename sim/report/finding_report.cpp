// SPDX-License-Identifier: Apache-2.0
#include "sim/report/finding_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sim/config/text_table.h"

namespace npuscope {
namespace {

constexpr std::size_t most_findings = 50;

/// Breaks a text into lines of the report's width, indented.
std::string wrapped(const std::string& text, std::size_t indent) {
    const std::size_t width = report_width - indent;
    std::string lines;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t length = std::min(width, text.size() - at);
        if (at + length < text.size()) {
            const std::size_t space = text.rfind(' ', at + length);
            length = space == std::string::npos || space <= at ? length : space - at;
        }
        lines += std::string(indent, ' ') + text.substr(at, length) + '\n';
        at = std::min(text.size(), text.find_first_not_of(' ', at + length));
    }
    return lines;
}

std::string text_of(const Diagnostic& finding, std::size_t times) {
    std::string head = fmt::format("{} {}", enum_name(finding.severity), finding.id);
    head += times > 1 ? fmt::format(" {} times, first", times) : "";
    for (const std::string& part :
         {finding.unit, finding.register_name, finding.surface, finding.operation}) {
        head += part.empty() ? "" : ", " + part;
    }
    head += finding.address ? ", " + to_hex(*finding.address) : "";
    head += finding.place.file.empty() ? "" : ", " + short_place(finding.place);
    return "  " + cut_to(head, report_width - 2) + '\n' + wrapped(finding.sentence, 4);
}

/// Notes of one kind are one entry: silicon ignores what they tell of.
bool are_one_entry(const Diagnostic& a, const Diagnostic& b) {
    return a.severity == Severity::Note && b.severity == Severity::Note && a.id == b.id;
}

}  // namespace

std::string short_place(const Place& place) {
    return to_string(
        {std::filesystem::path(place.file).filename().string(), place.line, place.column});
}

void add_place(Json& object, const Place& place) {
    if (!place.file.empty()) {
        object["place"] = to_string(place);
    }
}

void add_text(Json& object, const char* key, const std::string& text) {
    if (!text.empty()) {
        object[key] = text;
    }
}

Json finding_json(const Diagnostic& finding) {
    Json object;
    object["severity"] = to_json(finding.severity);
    object["kind"] = finding.id;
    object["message"] = finding.sentence;
    if (finding.address) {
        object["address"] = to_json(*finding.address);
    }
    add_text(object, "unit", finding.unit);
    add_text(object, "register", finding.register_name);
    add_text(object, "surface", finding.surface);
    add_text(object, "operation", finding.operation);
    add_place(object, finding.place);
    return object;
}

std::string findings_text(const std::vector<Diagnostic>& findings) {
    struct Entry {
        const Diagnostic* finding;
        std::size_t times;
    };
    std::vector<Entry> entries;
    for (const Diagnostic& finding : findings) {
        const auto same = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
            return are_one_entry(*entry.finding, finding);
        });
        same == entries.end() ? entries.push_back({&finding, 1}) : void(++same->times);
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return a.finding->severity > b.finding->severity;
    });
    std::string text;
    for (std::size_t i = 0; i < entries.size() && i < most_findings; ++i) {
        text += text_of(*entries[i].finding, entries[i].times);
    }
    if (entries.size() > most_findings) {
        text += fmt::format("  ... and {} more\n", entries.size() - most_findings);
    }
    return text.empty() ? text : "\nfindings\n" + text;
}

}  // namespace npuscope
