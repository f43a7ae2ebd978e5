// SPDX-License-Identifier: Apache-2.0
// What one operation leaves behind for the next one of its unit: short convolutions that nothing
// makes wait for the one before, so that their ends may meet in the accumulator's delivery buffer
// (models/conv/delivery_rule.h), and lines behind the last window of a pooling
// (models/pdp/left_lines.h).
#pragma once

#include "sim/check/launch_board.h"

namespace npuscope {

/// Operation `index` has just been launched.
void check_delivery(const LaunchBoard& board, std::size_t index, FoundList& found);
void check_lines_left(const LaunchBoard& board, std::size_t index, FoundList& found);

}  // namespace npuscope
