// SPDX-License-Identifier: Apache-2.0
// Which findings of a static check have the same cause. A wrong register shows in the operation's
// surfaces and then in comparisons; those findings follow from the one that is nearest to the
// mistake.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/check/check_report.h"

namespace npuscope {

/// How far a finding is from the mistake: 0 and 1 what a register value itself shows, 2 what
/// surfaces show, 3 the final consequences, 4 notes.
int remoteness(const Diagnostic& finding);

/// For each finding of a report, by its index, the finding that it follows from; nothing if it is
/// independent. A cause precedes what follows from it and follows from nothing; it is at least as
/// severe. Findings of operations that feed each other on the fly, or of one surface of an image,
/// belong together; final consequences follow the very first cause.
std::vector<std::optional<std::size_t>> causes_of(const CheckReport& report);

}  // namespace npuscope
