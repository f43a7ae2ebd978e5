// SPDX-License-Identifier: Apache-2.0
// What registers of the convolution pipeline say, compared with each other and with what the
// operation needs; each contradiction is a finding at the register that it is about.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/base/rule_ids.h"

namespace npuscope {

/// A register field and its value.
struct RegisterClaim {
    std::string_view unit;
    std::string_view register_name;
    std::string_view field;
    std::uint64_t value;

    std::string text() const {
        return fmt::format("{} has {} = {}", spelled(unit, register_name), field, value);
    }
};

inline constexpr const char* remedy_of_two = "make the two registers agree";
inline constexpr const char* remedy_of_windows =
    "correct output size, dilation, kernel size, stride or padding";

class ClaimChecks {
 public:
    /// Two units must have the same value.
    void agree(const RegisterClaim& first, const RegisterClaim& second) {
        if (first.value != second.value) {
            add(Severity::Error, "register_mismatch", first,
                fmt::format("{}, but {}", first.text(), second.text()), remedy_of_two);
        }
    }
    /// One register against what the rest of the job requires.
    void expect(bool condition, const RegisterClaim& said, const std::string& need,
                const std::string& remedy, const char* id = "impossible_register") {
        if (!condition) {
            add(Severity::Error, id, said, fmt::format("{}, {}", said.text(), need), remedy);
        }
    }
    /// The same if the job can be computed nevertheless.
    void advise(bool condition, const RegisterClaim& said, const std::string& need,
                const std::string& remedy) {
        if (!condition) {
            add(Severity::Warning, rule_ids::suspicious_register, said,
                fmt::format("{}, {}", said.text(), need), remedy);
        }
    }
    std::vector<Diagnostic> take() { return std::move(findings_); }

 private:
    void add(Severity severity, std::string kind, const RegisterClaim& said, std::string message,
             std::string remedy) {
        Diagnostic finding;
        finding.severity = severity;
        finding.id = std::move(kind);
        finding.sentence = std::move(message);
        finding.unit = said.unit;
        finding.register_name = spelled(said.unit, said.register_name);
        finding.field = said.field.substr(0, said.field.find(' '));
        finding.remedy = std::move(remedy);
        findings_.push_back(std::move(finding));
    }

    std::vector<Diagnostic> findings_;
};

inline constexpr std::string_view cdma_unit = "NVDLA_CDMA";
inline constexpr std::string_view csc_unit = "NVDLA_CSC";
inline constexpr std::string_view cacc_unit = "NVDLA_CACC";

/// Registers that a finding names in addition to the one that it is about.
template <class... Names>
std::string names_of(std::string_view unit, const Names&... names) {
    std::string text;
    const auto add = [&](std::string_view name) {
        text += (text.empty() ? "" : ", ") + spelled(unit, name);
    };
    (add(names), ...);
    return text;
}

}  // namespace npuscope
