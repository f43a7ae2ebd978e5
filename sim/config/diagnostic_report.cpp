// SPDX-License-Identifier: Apache-2.0
#include "sim/config/diagnostic_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <vector>

namespace npuscope {
namespace {

std::string details_of(const Diagnostic& diagnostic) {
    std::string text;
    const auto add = [&text](const char* name, const std::string& value) {
        if (!value.empty()) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
        }
    };
    add("operation", diagnostic.operation);
    add("unit", diagnostic.register_name.empty() ? diagnostic.unit : "");
    const bool words = diagnostic.register_name.starts_with("word");  // of a descriptor
    add(words ? "descriptor's" : "register", diagnostic.register_name);
    add("field", diagnostic.field);
    add("surface", diagnostic.surface);
    add("address", diagnostic.address ? to_hex(*diagnostic.address) : "");
    return text;
}

/// The remedy, or, if there is none, the nearest legal value.
std::string remedy_of(const Diagnostic& diagnostic) {
    const bool legal =
        diagnostic.remedy.empty() && !diagnostic.nearest.empty() && !diagnostic.value.empty();
    return legal ? fmt::format("the nearest legal value is {}, not {}", diagnostic.nearest,
                               diagnostic.value)
                 : diagnostic.remedy;
}

std::string file_of(const Place& place) {
    return std::filesystem::path(place.file).filename().string();
}

/// Equal for findings of one cause; empty for an independent one.
std::string cause_of(const Diagnostic& finding) {
    if (finding.severity == Severity::Note) {
        return finding.id;
    }
    return finding.once_a_unit ? finding.id + ' ' + finding.unit : std::string();
}

}  // namespace

void add_text(Json& object, const char* key, const std::string& text) {
    if (!text.empty()) {
        object[key] = text;
    }
}

void add_place(Json& object, const Place& place) {
    if (!place.file.empty()) {
        object["place"] = to_string(place);
    }
}

Json diagnostic_json(const Diagnostic& diagnostic) {
    Json object;
    object["severity"] = to_json(diagnostic.severity);
    object["id"] = diagnostic.id;
    object["message"] = diagnostic.sentence;
    add_text(object, "remedy", diagnostic.remedy);
    add_text(object, "unit", diagnostic.unit);
    add_text(object, "register", diagnostic.register_name);
    add_text(object, "field", diagnostic.field);
    add_text(object, "surface", diagnostic.surface);
    add_text(object, "operation", diagnostic.operation);
    if (diagnostic.address) {
        object["address"] = to_json(*diagnostic.address);
    }
    add_text(object, "value", diagnostic.value);
    add_text(object, "allowed", diagnostic.allowed);
    add_text(object, "nearest", diagnostic.nearest);
    add_place(object, diagnostic.place);
    return object;
}

std::string diagnostic_text(const Diagnostic& diagnostic, std::size_t indent, std::size_t times,
                            std::size_t width) {
    const std::string place = to_string(diagnostic.place);
    const std::string count = times > 1 ? fmt::format(", {} times", times) : "";
    const std::size_t below = indent + 4;
    std::string text = wrapped(
        fmt::format("{}{}{}: {} [{}{}]", place, place.empty() ? "" : ": ",
                    enum_name(diagnostic.severity), diagnostic.sentence, diagnostic.id, count),
        indent, below, width);
    text += wrapped(details_of(diagnostic), below, below, width);
    const std::string remedy = remedy_of(diagnostic);
    if (!remedy.empty()) {
        text += wrapped("remedy: " + remedy, below, below, width);
    }
    return text;
}

std::string folded_text(const Diagnostics& diagnostics, bool notes, std::size_t width) {
    struct Entry {
        const Diagnostic* finding;
        std::size_t times;
    };
    std::vector<Entry> entries;
    std::unordered_map<std::string, std::size_t> known;  // causes
    for (const Diagnostic& finding : diagnostics) {
        const std::string cause = cause_of(finding);
        const auto [found, is_new] = known.emplace(cause, entries.size());
        is_new || cause.empty() ? entries.push_back({&finding, 1})
                                : void(++entries[found->second].times);
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
        shown.place.file = file_of(shown.place);
        text += diagnostic_text(shown, 2, entry.times, width);
    }
    if (left_out > 0) {
        text += fmt::format("  {} more note{} (--operations lists them)\n", left_out,
                            left_out == 1 ? "" : "s");
    }
    return text;
}

std::string findings_text(const Diagnostics& findings, bool notes, std::size_t width) {
    const std::string text = folded_text(findings, notes, width);
    return text.empty() ? text : "\nfindings\n" + text;
}

std::string short_place(const Place& place) {
    return to_string({file_of(place), place.line, place.column});
}

}  // namespace npuscope
