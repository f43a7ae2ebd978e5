// SPDX-License-Identifier: Apache-2.0
// The common form of every message to users about their input: an access outside every region, a
// read of uninitialised bytes, a register whose value does not fit, a layer that the NPU does not
// support. The simulated machine continues after a finding; the result lists what was found.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "models/base/describe.h"
#include "models/base/quantity.h"

namespace npuscope {

/// Note: silicon ignores it. Warning: suspicious. Error: the program is wrong; the run fails.
enum class Severity { Note, Warning, Error };

template <>
struct EnumNames<Severity> {
    static constexpr std::array names{std::pair{Severity::Note, std::string_view("note")},
                                      std::pair{Severity::Warning, std::string_view("warning")},
                                      std::pair{Severity::Error, std::string_view("error")}};
};

/// A location in the user's input; line and column start at 1, 0 = unknown.
struct Place {
    std::string file;
    unsigned line = 0;
    unsigned column = 0;

    bool operator==(const Place&) const = default;
};

/// `nv_small.yaml:4:3`, or only the file where no line is known.
std::string to_string(const Place& place);

/// Unknown parts stay empty. No code parses a sentence: whatever other code needs has its own
/// field.
struct Diagnostic {
    Severity severity = Severity::Error;
    std::string id{};        ///< rule id, short and stable: `uninitialised_read`
    std::string sentence{};  ///< what is wrong
    std::string remedy{};    ///< what to change
    std::optional<Address> address{};
    std::string unit{};           ///< `sdp`, or a register block: `NVDLA_SDP`
    std::string register_name{};  ///< `NVDLA_SDP.D_DST_LINE_STRIDE_0`
    std::string field{};          ///< of the register above
    std::string surface{};
    std::string operation{};          ///< `conv 3`, or the node of a model
    std::optional<unsigned> group{};  ///< of registers, for a register that has two
    Place place{};                    ///< in the user's input
    std::string value{};              ///< as the input has it
    std::string allowed{};            ///< values that the rule accepts
    std::string nearest{};            ///< nearest allowed value
    bool once_a_unit = false;         ///< findings of this rule in one unit have one cause
};

using Diagnostics = std::vector<Diagnostic>;

/// Collects findings in order. A repeat of a rule for the same unit, register, surface and
/// operation is left out; where neither a register nor a surface of an operation is known, only a
/// repeat of the sentence is.
class DiagnosticLog {
 public:
    void add(Diagnostic finding);
    /// `place_of` locates in the input what a finding without a place is about.
    void locate_by(std::function<Place(const Diagnostic& finding)> place_of) {
        place_of_ = std::move(place_of);
    }
    const Diagnostics& findings() const { return findings_; }
    bool has_errors() const;

 private:
    Diagnostics findings_;
    std::unordered_set<std::string> known_;  ///< what makes two findings repeats
    std::function<Place(const Diagnostic&)> place_of_;
};

}  // namespace npuscope
