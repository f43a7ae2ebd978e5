// SPDX-License-Identifier: Apache-2.0
// Makes a graph that was read fit to be used: constants are folded (but for DequantizeLinear, whose
// integers may still be read), every tensor has a type, and what the operators demand of
// operands and attributes holds. Then: which values its tensors can have.
#pragma once

#include "models/base/error.h"
#include "sim/model/graph.h"
#include "sim/model/network.h"

namespace npuscope {

/// ConfigError with file and node: for an operator that does not exist, a shape that depends on numbers
/// that are not constant, a type that contradicts what the file states, a division by zero. A node
/// whose operator is unknown stays where the file states the types of its outputs. Of a graph by shape
/// nodes whose results have no known sizes go to `left_out`, with all that reads them.
void prepare_graph(Graph& graph);

/// Throws `sentence` about a node.
[[noreturn]] void refuse_node(const Graph& graph, const GraphNode& node,
                              const std::string& sentence, const std::string& remedy);

/// Runs `work` on a node; its ConfigErrors get file and node.
template <class Work>
auto at_node(const Graph& graph, const GraphNode& node, Work work) {
    try {
        return work();
    } catch (const ConfigError& error) {
        refuse_node(graph, node, error.sentence(), error.remedy());
    }
}

// Layers that carry scales and zero points (QLinearConv, QLinearMatMul, and operators between
// DequantizeLinear and QuantizeLinear) as the integer sequence Add, Div (2^n), Floor, Clip, where
// that gives the same numbers. It does where scales are powers of two that make a right shift, and
// where no sum can be a tie: these forms round halves to even, the sequence rounds down after half
// a unit was added to the bias.

/// Attribute that tells, on a node that keeps its form, why.
inline constexpr const char* not_exact_attribute = "npuscope.not_exact";

/// Attribute of a layer's node: the products that the model has there, where the layer was given other
/// sizes.
inline constexpr const char* macs_attribute = "npuscope.macs";

/// What becomes of scales that are no powers of two.
enum class ScaleForm {
    Exact,    ///< the layer keeps its form
    Rounded,  ///< integers of 15 bits and a shift: results differ by one step at most, in few values
    RoundedTwice,  ///< likewise; both stages may read the second map of a sum, which is then closer
    RoundedThird,  ///< likewise; a third stage may multiply it
    Folded,        ///< a shift for each kernel, the rest in its weights, which are rounded again
    FoldedTwice,  ///< likewise; layers read their map's eighths as well, with weights 8 times as fine
    FoldedNear,  ///< likewise, layers alone whose results could else be more than a step off
    FoldedReal   ///< likewise, with weights that are no integers, which no NPU has: for comparison
};

inline bool is_rounded(ScaleForm form) {
    return form == ScaleForm::Rounded || form == ScaleForm::RoundedTwice ||
           form == ScaleForm::RoundedThird;
}

inline bool is_folded(ScaleForm form) {
    return form == ScaleForm::Folded || form == ScaleForm::FoldedTwice ||
           form == ScaleForm::FoldedNear || form == ScaleForm::FoldedReal;
}

/// Of maps of 8 bits between their quantisers: operators that move numbers take the integers themselves, and
/// a Relu or Clip that follows a quantiser of its own scale goes before it. Types need to be inferred again.
void move_between_quantisers(Graph& graph);
/// A chain of operators between quantisers that is a function of one map of 8 bits, of each number by itself, as
/// a table of its 256 results; one that changes nothing as an Identity. Likewise.
void tabulate_functions(Graph& graph);

/// `graph` has types (prepare_graph) and needs them inferred again afterwards.
void normalise_quantised(Graph& graph, ScaleForm form = ScaleForm::Exact);

/// Transposed convolutions with an integer sequence as convolutions, whose results the host spreads over
/// the plane: for NPUs without transposed ones. Types need to be inferred again.
void convolve_transposed(Graph& graph);
/// Max pools of windows beyond 8 x 8 as several that follow each other. Likewise.
void stage_max_pools(Graph& graph);
/// Layers of several inputs at once as one for each input, for NPUs whose layers have a batch of 1.
/// Likewise; false where there are none.
bool split_batches(Graph& graph);

// A graph that is ready to be matched: read, typed, folded, in integer form.

/// Of a graph that was read or built. ConfigError for whatever is wrong with it.
Graph finish_graph(Graph graph, ScaleForm form = ScaleForm::Exact);

// What is known of values follows from inputs and constants through the operators' rows
// (operators.h). An input of floats is taken to hold 8-bit integers: a model for a TINPU says so by
// its layers, and a run checks what it is given.

/// Whether inputs of floats are real numbers, and no integers that are stored as floats: a quantiser or a
/// cast to fp16 makes the NPU's numbers of them.
bool takes_reals(const Graph& graph);

/// Of all tensors. `given`: of inputs whose values are known better than their types say.
ValueRanges value_ranges(const Graph& graph, const ValueRanges& given = {});
/// Whether the node only gives a tensor other sizes, or another type for the same numbers: a cast
/// moves nothing where every number fits.
bool moves_nothing(const GraphView& model, const GraphNode& node);

// A shape table as a graph of the integer sequences that a TINPU runs, for people without a model.
// Weights and biases are the synthetic ones of the table's seed, the same as on every NPU; shifts keep
// results of random inputs within 8 bits most of the time. A 1x1 convolution without relu that only
// an addition reads becomes PWCONVRES.

/// Not prepared yet: finish_graph does that. ConfigError as network_shapes.
Graph network_graph(const Network& network);

}  // namespace npuscope
