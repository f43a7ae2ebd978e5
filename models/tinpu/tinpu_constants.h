// SPDX-License-Identifier: Apache-2.0
// The table of constants of a TINPU's layer: a row for each output channel,
//
//     | bias, 4 bytes, low first | scale | shift |
//
// source: unknown; an assumption of ours
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/sdp/sdp_bnorm_math.h"

namespace npuscope {

/// Bytes of one output channel's row.
inline constexpr std::uint64_t constant_row_bytes = 6;

std::vector<std::uint8_t> store_constants(const std::vector<BnormChannel>& channels);
/// As many channels as there are whole rows. Shifts have 5 bits, the others do not count.
std::vector<BnormChannel> load_constants(std::span<const std::uint8_t> bytes);

}  // namespace npuscope
