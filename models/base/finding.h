// SPDX-License-Identifier: Apache-2.0
// What the machine has to say about a driver's program: an access outside every region, bytes read
// that nobody wrote, a register written while in use. The machine goes on; the result lists what it
// met.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/describe.h"
#include "models/base/error.h"
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

struct Finding {
    Severity severity = Severity::Error;
    std::string kind{};     ///< short and stable, e.g. `uninitialised_read`
    std::string message{};  ///< one sentence
    std::optional<Address> address{};
    std::string unit{};
    std::string surface{};
    std::string operation{};
    Place place{};  ///< statement of the program that led here, where known
};

/// Collects findings in the order of simulated time; repeats of one kind, unit and surface within
/// one operation are counted, not listed again.
class FindingLog {
 public:
    void add(Finding finding);
    const std::vector<Finding>& findings() const { return findings_; }
    bool has_errors() const;

 private:
    std::vector<Finding> findings_;
};

}  // namespace npuscope
