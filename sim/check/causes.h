// SPDX-License-Identifier: Apache-2.0
// Which findings of a static check come of one mistake. A wrong register shows in the operation's
// surfaces and then in what is compared; those follow the finding that is nearest to the mistake.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "sim/check/check_report.h"

namespace npuscope {

/// How far a finding is from the mistake: 0 and 1 what a register says by itself, 2 what surfaces do,
/// 3 what comes of it in the end, 4 notes.
int remoteness(const Diagnostic& finding);

/// Of each finding of a report, by its index, the finding that it follows from; nothing where it
/// stands for itself. A cause stands before what follows from it and follows from nothing; it is as
/// grave as that. Findings of operations that feed each other on the fly, or of one surface of an
/// image, belong together; what comes in the end follows the first cause of all.
std::vector<std::optional<std::size_t>> causes_of(const CheckReport& report);

}  // namespace npuscope
