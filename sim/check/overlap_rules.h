// SPDX-License-Identifier: Apache-2.0
// Surfaces that share bytes: within one chain of units, and between operations that may run at one
// time. Units of one kind work in order, so what the last of them writes comes after everything
// that the operation before it did.
#pragma once

#include "sim/check/found.h"
#include "sim/check/launch_board.h"

namespace npuscope {

/// Operation `index` has just been launched.
void check_overlaps(const LaunchBoard& board, std::size_t index, FoundList& found);

}  // namespace npuscope
