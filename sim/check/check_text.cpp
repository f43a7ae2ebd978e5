// SPDX-License-Identifier: Apache-2.0
#include "sim/check/check_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/config/json_writer.h"

namespace npuscope {
namespace {

Json json_of(const Found& found) {
    Json object;
    const auto add = [&object](const char* key, const std::string& text) {
        if (!text.empty()) {
            object[key] = text;
        }
    };
    object["severity"] = to_json(found.finding.severity);
    object["kind"] = found.finding.id;
    object["message"] = found.finding.sentence;
    if (found.finding.address) {
        object["address"] = to_json(*found.finding.address);
    }
    add("unit", found.finding.unit);
    add("surface", found.finding.surface);
    add("operation", found.finding.operation);
    add("register", found.register_name);
    add("remedy", found.remedy);
    if (!found.finding.place.file.empty()) {
        object["place"] = to_string(found.finding.place);
    }
    return object;
}

std::string details_of(const Found& found) {
    std::string text;
    const auto add = [&text](const char* name, const std::string& value) {
        if (!value.empty()) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
        }
    };
    add("operation", found.finding.operation);
    add("surface", found.finding.surface);
    add("address", found.finding.address ? to_hex(*found.finding.address) : "");
    add("register", found.register_name);
    return text;
}

std::string text_of(const Found& found) {
    const Diagnostic& finding = found.finding;
    std::string text;
    if (!finding.place.file.empty()) {
        text += to_string(finding.place) + ": ";
    }
    text += fmt::format("{}: {} [{}]\n", enum_name(finding.severity), finding.sentence, finding.id);
    if (const std::string details = details_of(found); !details.empty()) {
        text += "    " + details + '\n';
    }
    if (!found.remedy.empty()) {
        text += "    remedy: " + found.remedy + '\n';
    }
    return text;
}

}  // namespace

std::string check_text(const CheckReport& report) {
    std::string text;
    std::array<std::size_t, 3> counts{};
    for (const Found& found : report.found) {
        text += text_of(found);
        ++counts[static_cast<std::size_t>(found.finding.severity)];
    }
    const auto count = [&](Severity severity) {
        return counts[static_cast<std::size_t>(severity)];
    };
    return text + fmt::format(
                      "{} on {}: {} operations, {} surfaces: {} errors, {} warnings, {} "
                      "notes\n",
                      report.subject, report.npu, report.operations, report.surfaces,
                      count(Severity::Error), count(Severity::Warning), count(Severity::Note));
}

std::string check_json(const CheckReport& report) {
    Json object;
    object["subject"] = report.subject;
    object["npu"] = report.npu;
    object["status"] = report.clean() ? "clean" : "found";
    object["operations"] = report.operations;
    object["surfaces"] = report.surfaces;
    object["findings"] = Json::array();
    for (const Found& found : report.found) {
        object["findings"].push_back(json_of(found));
    }
    return object.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace npuscope
