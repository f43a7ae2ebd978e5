// SPDX-License-Identifier: Apache-2.0
// A float model as an integer model in standard ONNX operators: a QuantizeLinear where a tensor
// becomes integers, a DequantizeLinear where they are read as floats. Weights are int8 with
// per-kernel scales, biases int32 with the sums' scale; inputs and outputs of the model stay
// floats. For int16, biases and operators that ONNX lacks for such integers stay floats.
#pragma once

#include <string>
#include <vector>

#include "sim/quantise/grid.h"
#include "sim/quantise/places.h"

namespace npuscope {

/// A product with an integer bias, in the graph that insert_quantisers() returns.
struct QuantisedBias {
    std::string source;          ///< result tensor of the product in the float model
    std::string product;         ///< the same tensor here
    std::string integers;        ///< constant of the bias
    std::vector<double> scales;  ///< of its integers, per kernel
};

struct QuantisedGraph {
    Graph graph;                        ///< prepared
    std::vector<QuantisedBias> biases;  ///< in the order of the graph
    /// Tensors of the float model, and the corresponding ones here after a DequantizeLinear.
    std::vector<std::pair<std::string, std::string>> same;
};

/// `grids`: indexed as in `places`, of `type` int8 or int16. `graph`: of ready_for_quantisation().
QuantisedGraph insert_quantisers(const Graph& graph, const Places& places,
                                 const std::vector<Grid>& grids,
                                 ElementType type = ElementType::Int8);

/// The model as fp16: products, sums, pools and operators that move their maps compute in 16-bit
/// floats, between Casts from and to 32 bits. Weights and biases are rounded to fp16, and none are
/// integers; inputs and outputs of the model stay unchanged.
QuantisedGraph half_floats(const Graph& graph, const Places& places);

}  // namespace npuscope
