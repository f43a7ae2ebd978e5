// SPDX-License-Identifier: Apache-2.0
// A model of floats as one of integers in ONNX's own spelling: a QuantizeLinear where a tensor becomes
// integers, a DequantizeLinear where floats are read of them. Weights are int8 with a scale per
// kernel, biases int32 with the scale of the sums; inputs and outputs of the model stay floats. Of
// int16, biases stay floats, and what ONNX does not have for such integers reads and gives floats.
#pragma once

#include <string>
#include <vector>

#include "sim/quantise/grid.h"
#include "sim/quantise/places.h"

namespace npuscope {

/// A product with its bias as integers, in the graph that insert_quantisers() gives.
struct QuantisedBias {
    std::string source;          ///< the tensor that the product gives in the model of floats
    std::string product;         ///< the same here
    std::string integers;        ///< constant of the bias
    std::vector<double> scales;  ///< of its integers, per kernel
};

struct QuantisedGraph {
    Graph graph;                        ///< prepared
    std::vector<QuantisedBias> biases;  ///< in the order of the graph
    /// Tensors of the float model, and those that hold them here after a DequantizeLinear.
    std::vector<std::pair<std::string, std::string>> same;
};

/// `grids` by number, as `places` count them, of integers of `type`: int8 or int16. `graph` is what ready_for_quantisation() gave.
QuantisedGraph insert_quantisers(const Graph& graph, const Places& places,
                                 const std::vector<Grid>& grids,
                                 ElementType type = ElementType::Int8);

}  // namespace npuscope
