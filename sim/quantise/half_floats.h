// SPDX-License-Identifier: Apache-2.0
// A model of floats of 32 bits as one of fp16, in ONNX's own spelling: products, sums, pools and what
// moves their maps compute with floats of 16 bits, between a Cast from and one to those of 32 bits.
// Weights and biases are rounded to fp16; inputs and outputs of the model stay as they are.
#pragma once

#include "sim/quantise/insert_quantisers.h"

namespace npuscope {

/// `graph` is what ready_for_quantisation() gave. There are no biases of integers.
QuantisedGraph half_floats(const Graph& graph, const Places& places);

}  // namespace npuscope
