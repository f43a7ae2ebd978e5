// SPDX-License-Identifier: Apache-2.0
#include "sim/report/finding_report.h"

#include <fmt/format.h>

#include <filesystem>

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
    const std::string text = folded_text(findings, notes, width);
    return text.empty() ? text : "\nfindings\n" + text;
}

}  // namespace npuscope
