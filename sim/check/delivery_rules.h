// SPDX-License-Identifier: Apache-2.0
// Short convolutions that nothing makes wait for the one before: their ends may meet in the
// accumulator's delivery buffer (models/data/delivery_rule.h).
#pragma once

#include "sim/check/launch_board.h"

namespace npuscope {

/// Operation `index` has just been launched.
void check_delivery(const LaunchBoard& board, std::size_t index, FoundList& found);

}  // namespace npuscope
