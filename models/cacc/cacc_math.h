// SPDX-License-Identifier: Apache-2.0
// What the accumulator does to values: it sums the MAC array's exact block sums in a register of
// limited width, channel block by channel block, and hands each finished sum on as 32 bits, shifted
// right with rounding half away from zero and saturated. Saturated results are counted.
// Sums that cannot leave the register's width whatever the data are computed at once; the others
// follow the hardware block by block.
// source: nv_small RTL, NV_NVDLA_CACC_CALC_int8.v
#pragma once

#include <cstdint>

#include "models/arith/convolve.h"
#include "models/arith/saturate.h"
#include "models/data/convolution.h"
#include "models/data/tensor.h"

namespace npuscope {

/// Outputs of the convolution pipeline, [kernel][y][x], as the SDP takes them.
struct AccumulatedSums {
    Tensor<std::int32_t> values;
    std::uint64_t saturated = 0;  ///< what D_OUT_SATURATION counts
};

/// One finished sum, `bits` <= 34 of them, through the truncation. Shifts beyond 16 lose the lowest
/// bits of a negative half, as the hardware does: it keeps 16 bits below the point.
Narrowed<std::int32_t> truncate_sum(std::int64_t sum, std::uint32_t clip_truncate);

struct Accumulation {
    Convolution convolution;
    Accumulator accumulator;  ///< atomic_c channels a block, bits of a partial sum
    std::uint32_t clip_truncate = 0;
};

AccumulatedSums accumulate(const Tensor<std::int8_t>& data, const Kernels<std::int8_t>& kernels,
                           const Accumulation& accumulation);

}  // namespace npuscope
