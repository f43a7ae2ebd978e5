// SPDX-License-Identifier: Apache-2.0
// One layer with scales and zero points, read from either form, and the integer sequence that gives
// the same numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/model/graph.h"

namespace npuscope {

struct QuantisedLayer {
    GraphNode anchor;
    bool is_conv = true;
    bool is_pool = false;  ///< MaxPool between equal scales: it needs no sequence
    std::string input;     ///< integers
    std::string output;    ///< integers
    ElementType output_type = ElementType::Int8;
    GraphValue weights;           ///< integers; of a product [C K]
    std::vector<double> bias;     ///< empty, or one per kernel
    std::vector<double> factors;  ///< input scale x weight scale / output scale, per kernel
    double input_zero = 0;
    double output_zero = 0;
    bool relu = false;
    std::vector<std::size_t> after;  ///< nodes after the anchor that belong to it
    std::string obstacle;            ///< why it cannot be exact, if that is plain already
};

/// Nothing where node `index` is not such a layer.
std::optional<QuantisedLayer> read_quantised_layer(const GraphView& view, std::size_t index);

bool is_power_of_two(double number);

struct ExactSequence {
    std::vector<double> bias;     ///< per kernel, half a unit included
    std::vector<double> divisor;  ///< 2^n per kernel
    double low = 0;
    double high = 0;
    std::string reason;  ///< why there is none; empty: there is one
};
ExactSequence exact_sequence(const QuantisedLayer& layer);

/// The pool, reading and giving integers.
GraphNode pool_on_integers(const QuantisedLayer& layer);
/// Takes out dequantisers without readers.
void drop_unread_dequantisers(Graph& graph);

// Layers that carry scales and zero points (QLinearConv, QLinearMatMul, and operators between
// DequantizeLinear and QuantizeLinear) as the integer sequence Add, Div (2^n), Floor, Clip, where
// that gives the same numbers. It does where scales are powers of two that make a right shift, and
// where no sum can be a tie: these forms round halves to even, the sequence rounds down after half
// a unit was added to the bias.

/// Attribute that tells, on a node that keeps its form, why.
inline constexpr const char* not_exact_attribute = "npuscope.not_exact";

/// `graph` has types (prepare_graph) and needs them inferred again afterwards.
void normalise_quantised(Graph& graph);

}  // namespace npuscope
