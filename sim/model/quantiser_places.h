// SPDX-License-Identifier: Apache-2.0
// Exporters place quantisers differently: before a layer rather than after the one whose results it
// reads, after a pool, once per reader, or with a normalisation between a layer and its quantiser.
// These passes bring a graph to one form, in which layers are read (quantised_form.h): data and
// weights after a DequantizeLinear, one product, one activation, one QuantizeLinear. Results stay
// those of the model, up to the rounding of floats where constants are folded. One pass, of residual
// sums, changes results, and states by how much.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/model/graph.h"

namespace npuscope {

/// Scale, zero point and type of a QuantizeLinear or DequantizeLinear, if they are constant and
/// per-tensor, and the scale is positive.
struct TensorScale {
    double scale = 1;
    double zero = 0;
    ElementType type = ElementType::Uint8;

    bool operator==(const TensorScale&) const = default;
};
/// `integers`: the tensor that the scale belongs to.
std::optional<TensorScale> tensor_scale(const Graph& graph, const GraphNode& node,
                                        const std::string& integers);

/// Whether the integers of a model are only those of its constants: weights that are stored
/// quantised, for layers that compute with floats.
bool quantises_only_constants(const Graph& graph);

/// Operators with one result, all elements of which are elements of their first operand, whatever
/// their values.
bool is_mover(const GraphNode& node);

/// Relu, or Clip with constant limits.
bool is_activation(const Graph& graph, const GraphNode& node);

/// All passes below. Types must be inferred again.
void place_quantisers(Graph& graph);

/// Quantisers of one tensor with equal scales and zero points become one, and likewise
/// dequantisers.
void join_equal_quantisers(Graph& graph);
/// A quantiser after operators that move elements moves before them, with the activation before it.
void raise_quantisers(Graph& graph);
/// A Relu, Clip, Min and Max with constant limits before a quantiser become one Clip.
void join_limits(Graph& graph);
/// A BatchNormalization, or a sum, difference, product or quotient with one constant per kernel,
/// between a product with dequantised operands and its quantiser: the scales of the weights and the
/// bias take it up.
void fold_into_products(Graph& graph);
/// Constants whose dequantised numbers are moved (Transpose, Reshape and the like) are moved as
/// integers.
void move_integer_constants(Graph& graph);

/// A sum whose result deviates from the model's because a layer before it was given a quantiser.
struct ResidualSum {
    std::string name;   ///< of the sum
    std::string layer;  ///< that was given a quantiser
    double step = 0;    ///< scale of that quantiser, in steps of the sum's
};
/// Quantises the results of layers that are added to a dequantised map before the sum is quantised:
/// then layer and sum are integer operators. Types must be inferred again.
std::vector<ResidualSum> quantise_residuals(Graph& graph);
/// States the deviations of such sums, once those of all layers are known.
void note_residuals(Graph& graph, const std::vector<ResidualSum>& sums);

}  // namespace npuscope
