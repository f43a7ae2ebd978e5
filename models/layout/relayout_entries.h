// SPDX-License-Identifier: Apache-2.0
// The quick way for high/low layouts: a pair of entries is 16 plain 16-bit values in another order
// of bytes, so a box that fills whole pairs moves as plain values and its pairs are split (or were
// joined) where they lie.
#pragma once

#include <cstdint>
#include <span>

#include "models/layout/layout.h"
#include "models/layout/relayout_run.h"

namespace npuscope {

/// True where it was done: one side is high/low and the other plain, and boxes fill whole pairs of
/// entries. Bytes of the target that belong to no element must be 0 before.
bool relayout_entries(const Layout& source, std::span<const std::uint8_t> from,
                      const Layout& target, std::span<std::uint8_t> to, MoveProgress& progress);

}  // namespace npuscope
