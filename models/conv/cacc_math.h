// SPDX-License-Identifier: Apache-2.0
// What the accumulator does to values: it sums the MAC array's exact block sums in a register of
// limited width, channel block by channel block, and hands each finished sum on as 32 bits, shifted
// right with rounding half away from zero and saturated. Saturated results are counted.
// Sums that cannot leave the register's width whatever the data are computed at once; the others
// follow the hardware block by block. fp16 sums leave as fp32, rounded half away from zero.
// source: nv_small RTL, NV_NVDLA_CACC_CALC_int8.v; nv_full RTL, NV_NVDLA_CACC_CALC_int16.v and
// NV_NVDLA_CACC_CALC_fp_48b.v
#pragma once

#include <cstdint>

#include "models/arith/convolve.h"
#include "models/arith/fixed_point.h"
#include "models/layout/precision.h"
#include "models/layout/tensor.h"

namespace npuscope {

/// Outputs of the convolution pipeline, [kernel][y][x], as the SDP takes them.
struct AccumulatedSums {
    Tensor<std::int32_t> values;
    std::uint64_t saturated = 0;  ///< what D_OUT_SATURATION counts
};

/// One finished sum, 48 bits at most, through the truncation. Shifts beyond 16 lose the lowest
/// bits of a negative half, as the hardware does: it keeps 16 bits below the point.
Narrowed<std::int32_t> truncate_sum(std::int64_t sum, std::uint32_t clip_truncate);

struct Accumulation {
    Convolution convolution;  ///< of one batch
    Accumulator accumulator;  ///< atomic_c channels a block, bits of a partial sum
    std::uint32_t clip_truncate = 0;
    Precision precision = Precision::Int8;
    bool winograd = false;
    std::uint32_t patch_truncate = 0;  ///< of the Winograd input
    std::uint32_t batches = 1;
    ArrangedData* arranged = nullptr;  ///< the same data with other kernels, before and after
};

/// int8 and int16: integers. fp16: bit patterns of fp32, never truncated or counted as saturated.
/// The lines of all batches lie below each other, in the data as in the result.
AccumulatedSums accumulate(const ElementTensor& data, const WeightKernels& kernels,
                           const Accumulation& accumulation);

}  // namespace npuscope
