// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/winograd_values.h"

#include "models/arith/round.h"
#include "models/arith/saturate.h"

namespace npuscope {
namespace {

/// Twice G w of three elements in a row.
std::array<int, 4> transformed(const std::array<int, 3>& w) {
    return {2 * w[0], w[0] + w[1] + w[2], w[0] - w[1] + w[2], 2 * w[2]};
}

}  // namespace

std::array<std::int8_t, 16> winograd_taps(const std::array<std::int8_t, 9>& taps) {
    std::array<std::array<int, 4>, 3> half{};  // of each row
    for (std::size_t r = 0; r < 3; ++r) {
        half[r] = transformed({taps[3 * r], taps[3 * r + 1], taps[3 * r + 2]});
    }
    std::array<std::int8_t, 16> result{};
    for (std::size_t j = 0; j < 4; ++j) {
        const std::array<int, 4> column = transformed({half[0][j], half[1][j], half[2][j]});
        for (std::size_t i = 0; i < 4; ++i) {  // four times U
            result[4 * i + j] =
                saturate_to<std::int8_t>(shift_right_round(column[i], 2 + winograd_weight_shift));
        }
    }
    return result;
}

}  // namespace npuscope
