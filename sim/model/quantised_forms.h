// SPDX-License-Identifier: Apache-2.0
// Layers that carry scales and zero points (QLinearConv, QLinearMatMul, and operators between
// DequantizeLinear and QuantizeLinear) as the integer sequence Add, Div (2^n), Floor, Clip, where
// that gives the same numbers. It does where scales are powers of two that make a right shift, and
// where no sum can be a tie: these forms round halves to even, the sequence rounds down after half
// a unit was added to the bias.
#pragma once

#include "sim/model/graph.h"

namespace npuscope {

/// Attribute that tells, on a node that keeps its form, why.
inline constexpr const char* not_exact_attribute = "npuscope.not_exact";

/// `graph` has types (prepare_graph) and needs them inferred again afterwards.
void normalise_quantised(Graph& graph);

}  // namespace npuscope
