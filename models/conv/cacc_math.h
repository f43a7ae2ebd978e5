// SPDX-License-Identifier: Apache-2.0
// What the accumulator does to values: it sums the MAC array's exact block sums in a register of
// limited width, channel block by channel block, and hands each finished sum on as 32 bits, shifted
// right with rounding half away from zero and saturated. Saturated results are counted.
// Sums that cannot exceed the register's width, whatever the data, are computed at once; the others
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

/// Outputs of the convolution pipeline, [kernel][y][x], as the SDP receives them.
struct AccumulatedSums {
    Tensor<std::int32_t> values;
    std::uint64_t saturated = 0;  ///< what D_OUT_SATURATION counts
};

/// Truncates one finished sum of at most 48 bits. Shifts beyond 16 lose the lowest bits of a
/// negative tie, as in the hardware, which keeps 16 fractional bits.
Narrowed<std::int32_t> truncate_sum(std::int64_t sum, std::uint32_t clip_truncate);

struct Accumulation {
    Convolution convolution;  ///< for one batch
    Accumulator accumulator;  ///< atomic_c channels per block, bits of a partial sum
    std::uint32_t clip_truncate = 0;
    Precision precision = Precision::Int8;
    bool winograd = false;
    std::uint32_t patch_truncate = 0;  ///< for the Winograd input
    std::uint32_t batches = 1;
    ArrangedData* arranged = nullptr;  ///< reused for the same data with other kernels
};

/// int8 and int16: integers. fp16: bit patterns of fp32, never truncated or counted as saturated.
/// The lines of all batches follow one another, in the data and in the result.
AccumulatedSums accumulate(const ElementTensor& data, const WeightKernels& kernels,
                           const Accumulation& accumulation);

}  // namespace npuscope
