// SPDX-License-Identifier: Apache-2.0
// int8 weights of a Winograd convolution: U = G w G^T, 4 x 4, halved so that it fits int8, halves
// away from zero. The patches of the input are shifted right by two bits by the sequencer, as their
// transformation needs ten. Sums are an eighth of the direct ones; both roundings are why results
// differ from those of a direct convolution.
// source: NVDLA format page, "Weight for Winograd Convolution"; scales: our choice
#pragma once

#include <array>
#include <cstdint>

namespace npuscope {

constexpr unsigned winograd_data_shift = 2;
constexpr unsigned winograd_weight_shift = 1;
/// Bits that sums are smaller by.
constexpr unsigned winograd_sum_shift = winograd_data_shift + winograd_weight_shift;

/// A kernel's taps of one channel, row by row, to its 16 elements.
std::array<std::int8_t, 16> winograd_taps(const std::array<std::int8_t, 9>& taps);

}  // namespace npuscope
