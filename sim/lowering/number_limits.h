// SPDX-License-Identifier: Apache-2.0
// What a layer's numbers may be so that the SDP computes its sequence exactly: operands have 16
// bits, values between its stages 32, where the hardware saturates. source: NVDLA_SDP.rdl,
// precision.rst
#pragma once

#include <optional>

#include "sim/lowering/lowering_problem.h"
#include "sim/workload/graph.h"
#include "sim/workload/layer_numbers.h"

namespace npuscope {

inline constexpr double largest_operand = 32767;
inline constexpr double largest_sum = 2147483647.0;

/// Biases: 16 bits, shifted left by one amount for all kernels.
std::optional<LoweringProblem> bias_problem(const LayerNumbers& numbers, std::size_t node);

/// What a layer's sums are made of beside its numbers.
struct SumInputs {
    NumberRange range;  ///< of the feature map
    bool residual = false;
};
/// Nothing on the way may leave 32 bits, for any input.
std::optional<LoweringProblem> sum_problem(const LayerNumbers& numbers, const SumInputs& inputs,
                                           std::size_t node);

}  // namespace npuscope
