// SPDX-License-Identifier: Apache-2.0
// A 32-bit float model as fp16, in standard ONNX operators: products, sums, pools and operators
// that move their maps compute in 16-bit floats, between Casts from and to 32 bits. Weights and
// biases are rounded to fp16; inputs and outputs of the model stay unchanged.
#pragma once

#include "sim/quantise/insert_quantisers.h"

namespace npuscope {

/// `graph` comes from ready_for_quantisation(). There are no integer biases.
QuantisedGraph half_floats(const Graph& graph, const Places& places);

}  // namespace npuscope
