// SPDX-License-Identifier: Apache-2.0
// What a TINPU's layers compute, bit-exact. Sums are exact; the width of the accumulator is not
// public and is assumed to suffice. Post-processing is sdp_bnorm_math's.
// source: TI NNC for MCUs, User's Guide, Supported Layer Patterns
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/layout/tensor.h"
#include "models/tinpu/tinpu_job.h"

namespace npuscope {

/// What a layer computes with; what its job does not name is empty.
struct TinpuOperands {
    Tensor<std::int32_t> input;
    std::optional<Tensor<std::int32_t>> residual{};
    Kernels<std::int8_t> weights{};
    std::vector<BnormChannel> constants{};  ///< one per output channel; not for MaxPool
};

/// The layer's output; counts what its clip changed.
Tensor<std::int32_t> tinpu_result(const TinpuJob& job, const TinpuOperands& operands,
                                  ClipCounters& clipped);

/// Sums of a convolution, depth-wise or transposed: [c][y][x] of the output's shape.
Tensor<std::int64_t> tinpu_sums(const TinpuJob& job, const Tensor<std::int32_t>& input,
                                const Kernels<std::int8_t>& weights);
/// Sums of AveragePool's windows, scaled to the whole window if fewer elements count.
Tensor<std::int64_t> tinpu_pool_sums(const TinpuJob& job, const Tensor<std::int32_t>& input);
/// Largest element of every window; padding never wins.
Tensor<std::int32_t> tinpu_max_pool(const TinpuJob& job, const Tensor<std::int32_t>& input);

}  // namespace npuscope
