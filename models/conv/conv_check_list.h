// SPDX-License-Identifier: Apache-2.0
// How the checks of a convolution note what contradicts what: each entry names a unit, a register,
// a field and its value.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/conv/conv_job.h"
#include "models/layout/alignment.h"

namespace npuscope {

/// A field of a register and what it says.
struct Said {
    std::string_view unit;
    std::string_view register_name;
    std::string_view field;
    std::uint64_t value;

    std::string text() const {
        return fmt::format("{} says {} = {}", spelled(unit, register_name), field, value);
    }
};

class Checks {
 public:
    /// Two units must have been told the same.
    void agree(const Said& first, const Said& second) {
        if (first.value != second.value) {
            add(Severity::Error, "register_mismatch", first,
                fmt::format("{}, {}", first.text(), second.text()));
        }
    }
    /// One register against what the rest of the job asks for.
    void expect(bool condition, const Said& said, const std::string& need) {
        if (!condition) {
            add(Severity::Error, "impossible_register", said,
                fmt::format("{}, {}", said.text(), need));
        }
    }
    /// The same where the job can be computed nevertheless.
    void advise(bool condition, const Said& said, const std::string& need) {
        if (!condition) {
            add(Severity::Warning, "suspicious_register", said,
                fmt::format("{}, {}", said.text(), need));
        }
    }
    std::vector<Diagnostic> take() { return std::move(findings_); }

 private:
    void add(Severity severity, std::string kind, const Said& said, std::string message) {
        Diagnostic finding;
        finding.severity = severity;
        finding.id = std::move(kind);
        finding.sentence = std::move(message);
        finding.unit = said.unit;
        finding.register_name = spelled(said.unit, said.register_name);
        finding.field = said.field.substr(0, said.field.find(' '));
        finding.remedy = "make the registers agree";
        findings_.push_back(std::move(finding));
    }

    std::vector<Diagnostic> findings_;
};

inline constexpr std::string_view cdma_unit = "NVDLA_CDMA";
inline constexpr std::string_view csc_unit = "NVDLA_CSC";
inline constexpr std::string_view cacc_unit = "NVDLA_CACC";

/// What the modes ask of the input: feature data, Winograd, images.
void check_input_mode(const ConvJob& job, Checks& checks);

}  // namespace npuscope
