// SPDX-License-Identifier: Apache-2.0
// Prepares a graph after reading: constants are folded (except DequantizeLinear in a model that
// also quantises maps: its integers may still be read), every tensor gets a type, and the
// operators' requirements on operands and attributes are checked. Then: the possible values of its
// tensors.
#pragma once

#include "models/base/error.h"
#include "sim/model/graph.h"
#include "sim/model/network.h"

namespace npuscope {

/// ConfigError with file and node: for an operator that does not exist, a shape that depends on
/// non-constant values, an element type that is not the file's, a division by zero. A node with an
/// unknown operator is kept if the file states types for it; other stated sizes only cause a note.
/// Nodes of unknown result sizes move to `left_out`, with all their consumers, and what they read
/// becomes outputs: in a by-shape graph any, in others those at the end, after the last layer with
/// weights.
void prepare_graph(Graph& graph);

/// Throws `sentence` about a node.
[[noreturn]] void refuse_node(const Graph& graph, const GraphNode& node,
                              const std::string& sentence, const std::string& remedy);

/// Runs `work` on a node; adds file and node to its ConfigErrors.
template <class Work>
auto at_node(const Graph& graph, const GraphNode& node, Work work) {
    try {
        return work();
    } catch (const ConfigError& error) {
        refuse_node(graph, node, error.sentence(), error.remedy());
    }
}

// Layers with scales and zero points (QLinearConv, QLinearMatMul, and operators between
// DequantizeLinear and QuantizeLinear) as the integer sequence Add, Div (2^n), Floor, Clip, where
// that produces the same results. It does so where scales are powers of two that make a right
// shift, and where no sum can be a tie: the original forms round ties to even, the sequence rounds
// down after half a unit was added to the bias.

/// Attribute of a node that keeps its form: the reason.
inline constexpr const char* not_exact_attribute = "npuscope.not_exact";

/// Attribute of a layer's node: the MACs that the model has there, if the layer was given other
/// sizes.
inline constexpr const char* macs_attribute = "npuscope.macs";

/// How scales that are not powers of two are handled.
enum class ScaleForm {
    Exact,    ///< the layer keeps its form
    Rounded,  ///< 15-bit integers and a shift: results differ by at most one step, in few values
    RoundedTwice,  ///< the same; both stages may read the second map of a sum, which is then closer
    RoundedThird,  ///< the same; a third stage may multiply the second map of a sum
    Folded,        ///< a shift per kernel, the remainder in its weights, which are rounded again
    FoldedTwice,   ///< the same; layers also read their map's eighths, with weights 8 times as fine
    FoldedNear,    ///< the same, only for layers whose results could otherwise be over a step off
    FoldedReal     ///< the same, with non-integer weights, which no NPU has: for comparison
};

inline bool is_rounded(ScaleForm form) {
    return form == ScaleForm::Rounded || form == ScaleForm::RoundedTwice ||
           form == ScaleForm::RoundedThird;
}

inline bool is_folded(ScaleForm form) {
    return form == ScaleForm::Folded || form == ScaleForm::FoldedTwice ||
           form == ScaleForm::FoldedNear || form == ScaleForm::FoldedReal;
}

/// Leaves out float copies (Identity, Dropout); makes a ReduceMean over a map's height and width a
/// GlobalAveragePool, a GlobalMaxPool a MaxPool, and averages over lines ones over maps of one
/// column. Types must be inferred again.
void use_plain_nodes(Graph& graph);
/// The parts of a float Split as slices, each of which can have its own readers' type; from opset
/// 10 on. Types must be inferred again.
void slice_parts(Graph& graph);
/// Products of a constant matrix and a map, W x, as 1 x 1 convolutions over the map's columns: those
/// between quantisers whose weights have one scale or one per row, or those of a float model. Types
/// must be inferred again; false if there are none.
bool convolve_left_products(Graph& graph, bool of_floats);
/// For 8-bit maps between quantisers: operators that move elements work on the integers, and a Relu
/// or Clip after a quantiser of its own scale moves before it. Types must be inferred again.
void move_between_quantisers(Graph& graph);
/// Replaces a chain of operators between quantisers that is an elementwise function of one 8-bit
/// map by a table of its 256 results, or by an Identity if it changes nothing. Types must be
/// inferred again.
void tabulate_functions(Graph& graph);

/// `graph` has types (prepare_graph); they must be inferred again afterwards. `fit`: convolutions
/// get sizes that the registers of a convolution unit take.
void normalise_quantised(Graph& graph, ScaleForm form, bool fit);

/// Transposed convolutions with an integer sequence as convolutions whose results the host spreads
/// over the plane: for NPUs without transposed convolution. Types must be inferred again.
void convolve_transposed(Graph& graph);
/// Splits max pools with windows beyond 8 x 8 into consecutive ones. Types must be inferred again.
void stage_max_pools(Graph& graph);
/// Splits layers with a batch into one layer per input, for NPUs whose layers have a batch of 1.
/// Types must be inferred again; false if there are none.
bool split_batches(Graph& graph);

// A graph that is ready to be matched: read, typed, folded, in integer form.

/// For a graph that was read or built. ConfigError for any error in it.
Graph finish_graph(Graph graph, ScaleForm form = ScaleForm::Exact);

// Value ranges follow from inputs and constants through the operators' rows (operators.h). A float
// input is assumed to hold 8-bit integers: the layers of a TINPU model imply it, and a run checks
// its inputs.

/// Whether float inputs are real numbers, not integers stored as floats: a quantiser or a cast to
/// fp16 converts them for the NPU.
bool takes_reals(const Graph& graph);

/// For all tensors. `given`: for inputs whose values are known better than from their types.
ValueRanges value_ranges(const Graph& graph, const ValueRanges& given = {});
/// Whether the node only changes a tensor's sizes, or its type while keeping its values: a cast
/// moves nothing if every value fits.
bool moves_nothing(const GraphView& model, const GraphNode& node);

// A shape table as a graph of the integer sequences that a TINPU runs, for users without a model.
// Weights and biases are the synthetic ones of the table's seed, the same as on every NPU; shifts
// keep results of random inputs within 8 bits most of the time. A 1x1 convolution without relu that
// only an addition reads becomes PWCONVRES.

/// Not prepared yet: finish_graph does that. ConfigError like network_shapes.
Graph network_graph(const Network& network);

}  // namespace npuscope
